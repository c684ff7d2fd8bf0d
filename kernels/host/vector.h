// A vector of floats as wide as the instruction set this file is compiled for, by GCC's and Clang's
// vector extensions. Everything is in an unnamed namespace: each instruction set has its own copy.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

#if defined(__AVX512F__)
constexpr int width = 16;
#elif defined(__AVX2__)
constexpr int width = 8;
#else
constexpr int width = 4;
#endif

using Floats = float __attribute__((vector_size(width * sizeof(float))));
using Ints = std::int32_t __attribute__((vector_size(width * sizeof(float))));
using Words = std::uint32_t __attribute__((vector_size(width * sizeof(float))));
using Halves = std::uint16_t __attribute__((vector_size(width * sizeof(std::uint16_t))));

inline Floats splat(float value) {
    return Floats{} + value;
}

template <typename To, typename From>
inline To as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To out;
    std::memcpy(&out, &value, sizeof(out));
    return out;
}

// Stored elements: float, and bf16 as its 16 bits.
inline Floats load(const float* from) {
    Floats out;
    std::memcpy(&out, from, sizeof(out));
    return out;
}
inline Floats load(const std::uint16_t* from) {
    Halves bits;
    std::memcpy(&bits, from, sizeof(bits));
    return as<Floats>(__builtin_convertvector(bits, Words) << 16);
}
inline void store(float* to, Floats value) {
    std::memcpy(to, &value, sizeof(value));
}
inline void store(std::uint16_t* to, Floats value) {
    const Words bits = as<Words>(value);
    const Words rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const Words quiet = (bits >> 16) | 0x40U;  // a NaN stays one
    const Words chosen = as<Words>(value == value) & rounded;
    const Words kept = as<Words>(value != value) & quiet;
    const Halves halves = __builtin_convertvector(chosen | kept, Halves);
    std::memcpy(to, &halves, sizeof(halves));
}

inline float widen(float value) {
    return value;
}
inline float widen(std::uint16_t bits) {
    return as<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline void narrow(float* to, float value) {
    *to = value;
}
inline void narrow(std::uint16_t* to, float value) {
    const auto bits = as<std::uint32_t>(value);
    *to = static_cast<std::uint16_t>(value == value ? (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16
                                                    : (bits >> 16) | 0x40U);
}

inline Floats max(Floats a, Floats b) {
    return a > b ? a : b;
}
inline float sum_of(Floats v) {
    float total = 0;
    for (int i = 0; i < width; ++i) total += v[i];
    return total;
}
inline float max_of(Floats v) {
    float most = v[0];
    for (int i = 1; i < width; ++i) most = v[i] > most ? v[i] : most;
    return most;
}

// exp(x) for x ≤ 0, within 2 ulp: 2^round(x·log2 e) times a polynomial of degree 6 on
// [−ln 2 / 2, ln 2 / 2] (Cody and Waite's reduction; Taylor coefficients suffice on that range).
// Below −87 the result would be subnormal and is 0; a NaN stays one.
inline Floats exp_of_nonpositive(Floats x) {
    const Floats scaled = x * 1.44269504F;
    const Floats magic = splat(12582912.0F);  // 1.5 · 2^23: adding it rounds to nearest
    const Floats rounded = (max(scaled, splat(-127)) + magic) - magic;
    Floats r = x - rounded * 0.693359375F;
    r = r - rounded * -2.12194440e-4F;
    Floats p = splat(1.0F / 720);
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    const Ints exponent = (__builtin_convertvector(rounded, Ints) + 127) << 23;
    const Floats result = p * as<Floats>(exponent);
    const Floats flushed = x < -87.0F ? Floats{} : result;
    return x != x ? x : flushed;
}

}  // namespace
