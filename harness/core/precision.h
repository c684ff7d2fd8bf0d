// Precisions name how a case computes; dtypes name how a tensor is stored.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace etalon {

// The `precision` of a case. tf32 stores fp32 tensors and multiplies with 10 mantissa bits.
enum class Precision { fp32, tf32, bf16, fp16, fp8, int8 };

inline constexpr std::array all_precisions = {Precision::fp32, Precision::tf32, Precision::bf16,
                                              Precision::fp16, Precision::fp8,  Precision::int8};

enum class DType { f64, f32, bf16, f16, e4m3, i8, i32 };

// Canonical spelling used in case ids: fp32 tf32 bf16 fp16 fp8 int8.
[[nodiscard]] std::string_view name(Precision precision);
[[nodiscard]] std::string_view name(DType dtype);

// Accepts the canonical spelling and common aliases (f32, half, e4m3, ...). Throws a usage Error
// that lists the precisions and suggests the nearest.
[[nodiscard]] Precision parse_precision(std::string_view text);

[[nodiscard]] std::size_t bytes_of(DType dtype);

// Storage type of the inputs and of the outputs of a case of this precision: tf32 → f32, fp8 →
// e4m3 in and bf16 out, int8 → i8 in and i32 out, the rest the same on both sides.
[[nodiscard]] DType input_dtype(Precision precision);
[[nodiscard]] DType output_dtype(Precision precision);

// Unit round-off of the output type and of the multiplied inputs (2^-p); 0 for integers.
[[nodiscard]] double unit_roundoff(DType dtype);

}  // namespace etalon
