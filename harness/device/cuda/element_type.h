// Our dtypes in the words of kernels/util.
#pragma once

#include <stdexcept>

#include "harness/core/precision.h"
#include "kernels/util/element_type.h"

namespace etalon {

[[nodiscard]] inline kernels::ElementType element_type(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return kernels::ElementType::f64;
        case DType::f32:
            return kernels::ElementType::f32;
        case DType::bf16:
            return kernels::ElementType::bf16;
        case DType::f16:
            return kernels::ElementType::f16;
        case DType::e4m3:
            return kernels::ElementType::e4m3;
        case DType::i8:
            return kernels::ElementType::i8;
        case DType::i32:
            return kernels::ElementType::i32;
    }
    throw std::invalid_argument("unknown dtype");
}

}  // namespace etalon
