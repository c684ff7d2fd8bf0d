// C[m,n] = A[m,k] · B[n,k]ᵀ, all row-major, on a CUDA stream.
//
// Usable without the harness: plain arguments in, a cudaError_t out. gemm() plans and launches; to
// launch the same product many times, keep a GemmPlan (gemm_plan.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace etalon::kernels {

// Stored types: bf16 and fp16 as themselves; tf32 and fp32 as fp32; fp8 e4m3 in, bf16 out; int8 in,
// int32 out. Accumulation is fp32, or int32 for int8. tf32 inputs are fp32 with 13 bits dropped.
enum class GemmType { bf16, fp16, tf32, fp32, fp8, int8 };

// Any size up to 2^30, any ld of at least a row, any alignment; k may be 0 (C is then zero). A and
// B with 16-byte aligned base and rows run fastest. Columns n..ldc of C are not written.
struct GemmArgs {
    GemmType type = GemmType::bf16;
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t lda = 0, ldb = 0, ldc = 0;  // elements
};

// Null when gemm() takes these arguments, else why not.
[[nodiscard]] const char* gemm_unsupported(const GemmArgs& args, int compute_capability);
// Name of the kernel that gemm() would launch: "sm90_wgmma_128x128x64", "mma_sync_...", "simt_...".
[[nodiscard]] const char* gemm_kernel_name(const GemmArgs& args, int compute_capability);
cudaError_t gemm(const GemmArgs& args, cudaStream_t stream);
// The plain version: fp64 accumulation, one thread an output, dense m × n doubles.
cudaError_t gemm_reference(const GemmArgs& args, double* c, cudaStream_t stream);

}  // namespace etalon::kernels
