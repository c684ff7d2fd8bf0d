// RMSNorm and LayerNorm over the columns, fp32 inside.
//   RMSNorm:   y = x · w / sqrt(mean(x²) + epsilon)
//   LayerNorm: y = (x − mean(x)) · w / sqrt(var(x) + epsilon) + b, variance over cols (biased)
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/common/row_type.h"

namespace etalon::kernels {

struct NormArgs {
    RowType type = RowType::bf16;
    const void* x = nullptr;
    const void* weight = nullptr;  // cols
    const void* bias = nullptr;    // cols; LayerNorm only
    void* y = nullptr;
    std::int64_t rows = 0, cols = 0;
    std::int64_t ldx = 0, ldy = 0;  // elements
    float epsilon = 1e-5F;
};

cudaError_t rmsnorm(const NormArgs& args, cudaStream_t stream);
cudaError_t rmsnorm_reference(const NormArgs& args, double* y, cudaStream_t stream);
cudaError_t layernorm(const NormArgs& args, cudaStream_t stream);
cudaError_t layernorm_reference(const NormArgs& args, double* y, cudaStream_t stream);

}  // namespace etalon::kernels
