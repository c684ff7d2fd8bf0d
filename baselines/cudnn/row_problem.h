// A row op of a case in cuDNN's terms, and which of them the library takes. No CUDA needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/case.h"

namespace etalon::cudnn {

enum class RowOp { softmax, rmsnorm, layernorm };
[[nodiscard]] std::string_view name(RowOp op);

// rows × cols in and out, row-major, ld elements from row to row; weight and bias have cols
// elements of the same type.
struct RowProblem {
    RowOp op = RowOp::softmax;
    Precision precision = Precision::bf16;
    std::int64_t rows = 0, cols = 0, ld = 0;
    bool operator==(const RowProblem&) const = default;
    // Tensors of the op: x and y, and what stands between them.
    [[nodiscard]] int tensors() const {
        return op == RowOp::softmax ? 2 : op == RowOp::rmsnorm ? 3 : 4;
    }
};

inline constexpr float norm_epsilon = 1e-5F;  // as bench/norm.cpp

[[nodiscard]] RowProblem row_problem(RowOp op, const Case& key);

// Why cuDNN cannot compute it. What its documentation leaves open is settled by building plans, in
// prepare().
[[nodiscard]] std::optional<std::string> unsupported(const RowProblem& problem);

// The legacy descriptors count in 32-bit integers, strides included.
[[nodiscard]] bool fits_legacy_descriptor(const RowProblem& problem);

}  // namespace etalon::cudnn
