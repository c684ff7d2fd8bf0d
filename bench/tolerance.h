// Error bounds that several ops share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace etalon {

// About the largest of n standard normal values (Cramér 1946: sqrt(2 ln n), from below), plus one.
inline double largest_normal(double n) {
    return std::sqrt(2 * std::log(std::max(n, 2.0))) + 1;
}

// Root-mean-square growth of rounding in a sum of k terms of random sign (Higham 2002, 4.2: the
// worst case grows with k, the typical one with its root), in units of the sum's own rms.
inline double accumulation_error(std::int64_t k, double unit_roundoff) {
    return 2 * std::sqrt(static_cast<double>(k)) * unit_roundoff;
}

inline constexpr double fp32_roundoff = 0x1p-24;

}  // namespace etalon
