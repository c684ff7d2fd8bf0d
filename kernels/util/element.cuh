// Conversion between a stored element and double, and the step from ElementType to a C++ type.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/util/element_type.h"

namespace etalon::kernels {

template <typename T>
__host__ __device__ inline double to_double(T value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<double>(value);
    } else {
        return static_cast<double>(static_cast<float>(value));
    }
}

// Rounds to nearest even. Integers are clamped, int8 to the symmetric range that quantised weights
// have; e4m3 saturates at ±448.
template <typename T>
__host__ __device__ inline T from_double(double value) {
    if constexpr (std::is_same_v<T, double>) {
        return value;
    } else if constexpr (std::is_same_v<T, float>) {
        return static_cast<float>(value);
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        return __double2bfloat16(value);
    } else if constexpr (std::is_same_v<T, __half>) {
        return __double2half(value);
    } else if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
        return __nv_fp8_e4m3(value);
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
        return static_cast<std::int8_t>(rint(fmin(fmax(value, -127.0), 127.0)));
    } else {
        static_assert(std::is_same_v<T, std::int32_t>);
        return static_cast<std::int32_t>(rint(fmin(fmax(value, -2147483648.0), 2147483647.0)));
    }
}

// Calls visit.template operator()<T>() with the C++ type of `type`.
template <typename Visit>
cudaError_t visit_element(ElementType type, Visit&& visit) {
    switch (type) {
        case ElementType::f64:
            return visit.template operator()<double>();
        case ElementType::f32:
            return visit.template operator()<float>();
        case ElementType::bf16:
            return visit.template operator()<__nv_bfloat16>();
        case ElementType::f16:
            return visit.template operator()<__half>();
        case ElementType::e4m3:
            return visit.template operator()<__nv_fp8_e4m3>();
        case ElementType::i8:
            return visit.template operator()<std::int8_t>();
        case ElementType::i32:
            return visit.template operator()<std::int32_t>();
    }
    return cudaErrorInvalidValue;
}

}  // namespace etalon::kernels
