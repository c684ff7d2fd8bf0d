// The references in double, on whichever device holds the inputs. Outputs are dense.
#pragma once

#include <cstdint>

#include "bench/op.h"
#include "kernels/attention/attention_args.h"

namespace etalon::reference {

struct Matrices {  // C[m,n] = A[m,k] · B[n,k]ᵀ
    Precision precision = Precision::fp32;
    const void* a = nullptr;
    const void* b = nullptr;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t lda = 0, ldb = 0;
};
void gemm(Device& device, const Matrices& args, double* c);

struct Rows {
    Precision precision = Precision::fp32;
    const void* x = nullptr;
    const void* weight = nullptr;
    const void* bias = nullptr;
    std::int64_t rows = 0, cols = 0, ldx = 0;
};
void softmax(Device& device, const Rows& args, double* y);
void rmsnorm(Device& device, const Rows& args, double* y);
void layernorm(Device& device, const Rows& args, double* y);

void attention(Device& device, const kernels::AttentionArgs& args, double* out);

// y = x, widened.
void copy(Device& device, DType dtype, const Buffer& x, std::int64_t n, double* y);

}  // namespace etalon::reference
