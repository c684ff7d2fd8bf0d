// Every op of this build: one file each in this folder, one line here and one in registry.cpp.
#pragma once

#include <memory>

#include "bench/op.h"

namespace etalon {

[[nodiscard]] std::unique_ptr<Op> make_attention_prefill();
[[nodiscard]] std::unique_ptr<Op> make_attention_decode();
[[nodiscard]] std::unique_ptr<Op> make_copy();
[[nodiscard]] std::unique_ptr<Op> make_gemm();
[[nodiscard]] std::unique_ptr<Op> make_softmax();
[[nodiscard]] std::unique_ptr<Op> make_rmsnorm();
[[nodiscard]] std::unique_ptr<Op> make_layernorm();

}  // namespace etalon
