// Our precisions in the words of kernels/.
#pragma once

#include <stdexcept>

#include "harness/core/precision.h"
#include "kernels/common/row_type.h"
#include "kernels/gemm/gemm.h"

namespace etalon {

[[nodiscard]] inline kernels::RowType row_type(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return kernels::RowType::fp32;
        case Precision::bf16:
            return kernels::RowType::bf16;
        case Precision::fp16:
            return kernels::RowType::fp16;
        default:
            throw std::invalid_argument("row ops take fp32, bf16 and fp16");
    }
}

[[nodiscard]] inline kernels::GemmType gemm_type(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return kernels::GemmType::fp32;
        case Precision::tf32:
            return kernels::GemmType::tf32;
        case Precision::bf16:
            return kernels::GemmType::bf16;
        case Precision::fp16:
            return kernels::GemmType::fp16;
        case Precision::fp8:
            return kernels::GemmType::fp8;
        case Precision::int8:
            return kernels::GemmType::int8;
    }
    throw std::invalid_argument("unknown precision");
}

}  // namespace etalon
