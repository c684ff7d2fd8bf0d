#include "harness/device/host/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace etalon::host {
namespace {

// Rounds |value| to a binary format of `mantissa` stored bits and the given exponent bias; returns
// the magnitude's bits, unbounded above (the caller deals with overflow).
std::uint32_t round_magnitude(float value, int mantissa, int bias) {
    const float magnitude = std::fabs(value);
    if (magnitude == 0) return 0;
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude = f · 2^exponent, f in [0.5, 1)
    const int stored = std::max(exponent - 1 + bias, 1);
    // Units of the last place of that binade; nearbyint rounds ties to even.
    const double scaled = std::ldexp(static_cast<double>(magnitude), mantissa + bias - stored);
    const auto units = static_cast<std::uint32_t>(std::nearbyint(scaled));
    return (static_cast<std::uint32_t>(stored - 1) << mantissa) + units;
}

float from_magnitude(std::uint32_t bits, int mantissa, int bias) {
    const auto stored = static_cast<int>(bits >> mantissa);
    const std::uint32_t fraction = bits & ((1U << mantissa) - 1);
    if (stored == 0) return std::ldexp(static_cast<float>(fraction), 1 - bias - mantissa);
    return std::ldexp(static_cast<float>((1U << mantissa) | fraction), stored - bias - mantissa);
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood 2014)
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

double unit(std::uint64_t bits) {  // (0, 1)
    return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

template <typename Convert, typename T>
void fill_as(T* data, std::int64_t n, const Fill& fill, std::uint64_t seed, Convert convert) {
    const std::uint64_t base = mix(seed);
    if (fill.kind == Fill::Kind::constant) {
        std::fill(data, data + n, convert(fill.a));
        return;
    }
    for (std::int64_t i = 0; i < n; i += 2) {
        const auto counter = static_cast<std::uint64_t>(i);
        const double u = unit(mix(base ^ counter));
        const double v = unit(mix(base ^ (counter + 1)));
        double first = 0, second = 0;
        if (fill.kind == Fill::Kind::uniform) {
            first = fill.a + (fill.b - fill.a) * u;
            second = fill.a + (fill.b - fill.a) * v;
        } else {  // Box & Muller 1958
            const double radius = fill.b * std::sqrt(-2 * std::log(u));
            first = fill.a + radius * std::cos(2 * std::numbers::pi * v);
            second = fill.a + radius * std::sin(2 * std::numbers::pi * v);
        }
        data[i] = convert(first);
        if (i + 1 < n) data[i + 1] = convert(second);
    }
}

double element(DType dtype, const void* data, std::int64_t i) {
    switch (dtype) {
        case DType::f64:
            return static_cast<const double*>(data)[i];
        case DType::f32:
            return static_cast<double>(static_cast<const float*>(data)[i]);
        case DType::bf16:
            return static_cast<double>(from_bf16(static_cast<const std::uint16_t*>(data)[i]));
        case DType::f16:
            return static_cast<double>(from_f16(static_cast<const std::uint16_t*>(data)[i]));
        case DType::e4m3:
            return static_cast<double>(from_e4m3(static_cast<const std::uint8_t*>(data)[i]));
        case DType::i8:
            return static_cast<const std::int8_t*>(data)[i];
        case DType::i32:
            return static_cast<const std::int32_t*>(data)[i];
    }
    return 0;
}

}  // namespace

std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}
float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_f16(float value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
    if (std::isnan(value)) return sign | 0x7E00U;
    if (std::isinf(value)) return sign | 0x7C00U;
    return static_cast<std::uint16_t>(sign | std::min(round_magnitude(value, 10, 15), 0x7C00U));
}
float from_f16(std::uint16_t bits) {
    const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
    const std::uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude > 0x7C00U) return std::numeric_limits<float>::quiet_NaN();
    if (magnitude == 0x7C00U) return sign * std::numeric_limits<float>::infinity();
    return sign * from_magnitude(magnitude, 10, 15);
}

std::uint8_t to_e4m3(float value) {
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80U : 0U);
    if (std::isnan(value)) return sign | 0x7FU;
    if (std::fabs(value) >= 448) return sign | 0x7EU;
    return static_cast<std::uint8_t>(sign | std::min(round_magnitude(value, 3, 7), 0x7EU));
}
float from_e4m3(std::uint8_t bits) {
    const float sign = (bits & 0x80U) != 0 ? -1.0F : 1.0F;
    const std::uint32_t magnitude = bits & 0x7FU;
    if (magnitude == 0x7FU) return std::numeric_limits<float>::quiet_NaN();
    return sign * from_magnitude(magnitude, 3, 7);
}

void fill(void* data, const Layout& layout, const Fill& fill, std::uint64_t seed) {
    const std::int64_t n = layout.rows * layout.ld;
    const auto clamp = [](double value, double lo, double hi) {
        return std::clamp(std::nearbyint(value), lo, hi);
    };
    switch (layout.dtype) {
        case DType::f64:
            fill_as(static_cast<double*>(data), n, fill, seed, [](double v) { return v; });
            break;
        case DType::f32:
            fill_as(static_cast<float*>(data), n, fill, seed,
                    [](double v) { return static_cast<float>(v); });
            break;
        case DType::bf16:
            fill_as(static_cast<std::uint16_t*>(data), n, fill, seed,
                    [](double v) { return to_bf16(static_cast<float>(v)); });
            break;
        case DType::f16:
            fill_as(static_cast<std::uint16_t*>(data), n, fill, seed,
                    [](double v) { return to_f16(static_cast<float>(v)); });
            break;
        case DType::e4m3:
            fill_as(static_cast<std::uint8_t*>(data), n, fill, seed,
                    [](double v) { return to_e4m3(static_cast<float>(v)); });
            break;
        case DType::i8:
            fill_as(static_cast<std::int8_t*>(data), n, fill, seed,
                    [&](double v) { return static_cast<std::int8_t>(clamp(v, -127, 127)); });
            break;
        case DType::i32:
            fill_as(static_cast<std::int32_t*>(data), n, fill, seed, [&](double v) {
                return static_cast<std::int32_t>(clamp(v, -2147483647.0, 2147483647.0));
            });
            break;
    }
}

void widen(DType dtype, const void* from, std::int64_t n, double* to) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = element(dtype, from, i);
}

Comparison compare(const void* out, const Layout& layout, const double* reference) {
    Comparison result;
    double diff_sq = 0, ref_sq = 0, max_diff = 0;
    for (std::int64_t r = 0; r < layout.rows; ++r) {
        for (std::int64_t c = 0; c < layout.cols; ++c) {
            const double ref = reference[r * layout.cols + c];
            const double got = element(layout.dtype, out, r * layout.ld + c);
            if (!std::isfinite(got) || !std::isfinite(ref)) {
                const bool alike = got == ref || (std::isnan(got) && std::isnan(ref));
                result.non_finite += alike ? 0 : 1;
                continue;
            }
            const double diff = got - ref;
            diff_sq += diff * diff;
            ref_sq += ref * ref;
            max_diff = std::max(max_diff, std::fabs(diff));
        }
        const std::size_t width = bytes_of(layout.dtype);
        const auto* row =
            static_cast<const std::uint8_t*>(out) + static_cast<std::size_t>(r * layout.ld) * width;
        for (std::int64_t c = layout.cols; c < layout.ld; ++c) {
            const std::uint8_t* bytes = row + static_cast<std::size_t>(c) * width;
            const bool written =
                std::any_of(bytes, bytes + width, [](std::uint8_t b) { return b != 0xFF; });
            result.padding_written += written ? 1 : 0;
        }
    }
    const double count = static_cast<double>(layout.rows) * static_cast<double>(layout.cols);
    result.rel_error = relative_error(diff_sq, ref_sq);
    result.max_error = relative_error(max_diff * max_diff, ref_sq / count);
    return result;
}

}  // namespace etalon::host
