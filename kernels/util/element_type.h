// Storage types of the device utilities, with no CUDA header.
#pragma once

#include <cstddef>

namespace etalon::kernels {

enum class ElementType { f64, f32, bf16, f16, e4m3, i8, i32 };

[[nodiscard]] constexpr std::size_t element_bytes(ElementType type) {
    switch (type) {
        case ElementType::f64:
            return 8;
        case ElementType::f32:
        case ElementType::i32:
            return 4;
        case ElementType::bf16:
        case ElementType::f16:
            return 2;
        case ElementType::e4m3:
        case ElementType::i8:
            return 1;
    }
    return 0;
}

}  // namespace etalon::kernels
