// What the plain double-precision row kernels share: a block a row, one reduction at a time.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace etalon::kernels::row {

constexpr int kReferenceThreads = 256;

// Folds term(col) over 0 ≤ col < cols with `fold`, in the whole block; every thread gets the
// result.
template <class Term, class Fold>
__device__ double fold_columns(std::int64_t cols, double identity, Term term, Fold fold) {
    __shared__ double partial[kReferenceThreads];
    double folded = identity;
    for (std::int64_t col = threadIdx.x; col < cols; col += kReferenceThreads) {
        folded = fold(folded, term(col));
    }
    __syncthreads();  // an earlier result has been read
    partial[threadIdx.x] = folded;
    __syncthreads();
    for (unsigned half = kReferenceThreads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] = fold(partial[threadIdx.x], partial[threadIdx.x + half]);
        }
        __syncthreads();
    }
    return partial[0];
}

template <class Term>
__device__ double sum_columns(std::int64_t cols, Term term) {
    return fold_columns(cols, 0.0, term, [](double a, double b) { return a + b; });
}

template <typename T>
__device__ double as_double(T value) {
    return static_cast<double>(static_cast<float>(value));
}

}  // namespace etalon::kernels::row
