// The ops on the CPU: one thread, AVX-512 or AVX2 chosen at run time, plain C++ elsewhere.
//
// Usable without the harness. Row-major; every ld is in elements and at least cols. Tensors may be
// unaligned. bf16 is stored as its 16 bits (round to nearest even) and computed in fp32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/attention_args.h"

namespace etalon::kernels::host {

enum class Type { fp32, bf16 };

// C[m,n] = A[m,k] · B[n,k]ᵀ, accumulated in fp32.
struct GemmArgs {
    Type type = Type::fp32;
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
};
void gemm(const GemmArgs& args);
void gemm_reference(const GemmArgs& args, double* c);  // dense m × n, accumulated in double
// What gemm() runs here: "avx512_bf16_...", "avx512_...", "avx2_...", "scalar".
[[nodiscard]] const char* gemm_kernel_name(Type type);

// y[r, :] = softmax(x[r, :]), maximum subtracted.
struct SoftmaxArgs {
    Type type = Type::fp32;
    const void* x = nullptr;
    void* y = nullptr;
    std::int64_t rows = 0, cols = 0;
    std::int64_t ldx = 0, ldy = 0;
};
void softmax(const SoftmaxArgs& args);
void softmax_reference(const SoftmaxArgs& args, double* y);

//   RMSNorm:   y = x · w / sqrt(mean(x²) + epsilon)
//   LayerNorm: y = (x − mean(x)) · w / sqrt(var(x) + epsilon) + b, variance over cols (biased)
struct NormArgs {
    Type type = Type::fp32;
    const void* x = nullptr;
    const void* weight = nullptr;  // cols
    const void* bias = nullptr;    // cols; LayerNorm only
    void* y = nullptr;
    std::int64_t rows = 0, cols = 0;
    std::int64_t ldx = 0, ldy = 0;
    float epsilon = 1e-5F;
};
void rmsnorm(const NormArgs& args);
void rmsnorm_reference(const NormArgs& args, double* y);
void layernorm(const NormArgs& args);
void layernorm_reference(const NormArgs& args, double* y);

// fp32 and bf16, queries, keys and values alike.
void attention(const AttentionArgs& args);
// Dense, tokens × heads × value_dim in the order of the queries.
void attention_reference(const AttentionArgs& args, double* out);

// Non-temporal stores past the last-level cache's size.
void copy(void* to, const void* from, std::size_t bytes);

// Widest instruction set in use: "avx512", "avx2", "scalar".
[[nodiscard]] const char* instruction_set();

}  // namespace etalon::kernels::host
