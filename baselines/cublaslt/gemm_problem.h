// The GEMM of a case in cuBLASLt's terms, and which of them the library takes. No CUDA needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/case.h"

namespace etalon::cublaslt {

// C[m,n] = A[m,k] · B[n,k]ᵀ, row-major; leading dimensions in elements.
struct GemmProblem {
    Precision precision = Precision::bf16;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t ld_in = 0;   // of A and B
    std::int64_t ld_out = 0;  // of C
    bool fast_accumulate = false;
};

[[nodiscard]] GemmProblem gemm_problem(const Case& key);

// Why cuBLASLt cannot compute it on a device of this compute capability (90 for sm_90). What its
// documentation leaves open is settled by asking for a heuristic, in prepare().
// Source: cuBLAS 13 documentation, cublasLtMatmul(): fp8 takes the TN form with pointers, leading
// dimensions and the reduction at multiples of 16 bytes; int8 takes TN with the output's columns, k
// and the leading dimensions at multiples of 4.
[[nodiscard]] std::optional<std::string> unsupported(const GemmProblem& problem,
                                                     int compute_capability);

}  // namespace etalon::cublaslt
