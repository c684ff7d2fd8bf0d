// Every provider of this build, by where it comes from. bench/registry.cpp lists them.
#pragma once

#include <memory>
#include <vector>

#include "bench/op.h"

namespace etalon {

using Providers = std::vector<std::unique_ptr<Provider>>;

[[nodiscard]] Providers etalon_host_providers();  // kernels/host
[[nodiscard]] Providers attention_host_providers();
[[nodiscard]] Providers libc_providers();    // memcpy
[[nodiscard]] Providers onednn_providers();  // present in every build; says so where it is not
#ifdef ETALON_CUDA
[[nodiscard]] Providers etalon_cuda_providers();  // kernels/
[[nodiscard]] Providers attention_cuda_providers();
[[nodiscard]] Providers cudart_providers();  // cudaMemcpyAsync
[[nodiscard]] Providers cublaslt_providers();
[[nodiscard]] Providers cudnn_providers();
#endif

}  // namespace etalon
