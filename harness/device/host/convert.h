// Storage types on the CPU: filling, widening and comparing without a GPU.
#pragma once

#include <cstdint>

#include "harness/device/device.h"

namespace etalon::host {

// Round to nearest even; e4m3 saturates at ±448 (OCP 8-bit floating point, 2023), the others
// overflow to infinity.
[[nodiscard]] std::uint16_t to_bf16(float value);
[[nodiscard]] std::uint16_t to_f16(float value);
[[nodiscard]] std::uint8_t to_e4m3(float value);
[[nodiscard]] float from_bf16(std::uint16_t bits);
[[nodiscard]] float from_f16(std::uint16_t bits);
[[nodiscard]] float from_e4m3(std::uint8_t bits);

// Element i depends on the seed and i alone.
void fill(void* data, const Layout& layout, const Fill& fill, std::uint64_t seed);
void widen(DType dtype, const void* from, std::int64_t n, double* to);
[[nodiscard]] Comparison compare(const void* out, const Layout& layout, const double* reference);

}  // namespace etalon::host
