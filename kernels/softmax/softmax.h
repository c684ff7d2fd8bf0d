// y[r, :] = softmax(x[r, :]) over the columns, numerically safe (maximum subtracted), fp32 inside.
//
// A row of nothing but −∞ gives zeros; a row with NaN or +∞ gives NaN. y may be x.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/common/row_type.h"

namespace etalon::kernels {

struct SoftmaxArgs {
    RowType type = RowType::bf16;
    const void* x = nullptr;
    void* y = nullptr;
    std::int64_t rows = 0, cols = 0;
    std::int64_t ldx = 0, ldy = 0;  // elements
};

cudaError_t softmax(const SoftmaxArgs& args, cudaStream_t stream);
cudaError_t softmax_reference(const SoftmaxArgs& args, double* y, cudaStream_t stream);

}  // namespace etalon::kernels
