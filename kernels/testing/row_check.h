// The grid of shapes and layouts that every row kernel is tested over.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/common/row_type.h"
#include "kernels/testing/gpu_test.h"

namespace etalon::kernels::testing {

[[nodiscard]] inline ElementType element_type(RowType type) {
    switch (type) {
        case RowType::fp32:
            return ElementType::f32;
        case RowType::bf16:
            return ElementType::bf16;
        case RowType::fp16:
            return ElementType::f16;
    }
    return ElementType::f32;
}

[[nodiscard]] inline std::string name_of(RowType type) {
    switch (type) {
        case RowType::fp32:
            return "fp32";
        case RowType::bf16:
            return "bf16";
        case RowType::fp16:
            return "fp16";
    }
    return "?";
}

// Bound of ‖out − ref‖ / ‖ref‖ for an output that is rounded to the type once: half a unit in the
// last place of a single element (2^-8, 2^-11), and some of fp32's arithmetic.
[[nodiscard]] inline double row_tolerance(RowType type) {
    switch (type) {
        case RowType::fp32:
            return 5e-6;
        case RowType::bf16:
            return 4.5e-3;
        case RowType::fp16:
            return 5.5e-4;
    }
    return 0;
}

struct RowCase {
    std::int64_t rows, cols;
    bool aligned;  // else both pointers and both lds are odd

    [[nodiscard]] Place place(ElementType type, bool second) const {
        if (aligned) return {rows, cols, aligned_ld(type, cols) + (second ? 64 : 0), 0};
        return {rows, cols, (cols + (second ? 4 : 2)) | 1, second ? 3 : 1};
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(cols) +
               (aligned ? " aligned" : " unaligned");
    }
};

// Both sides of every switch of kernels/common/row.cuh, and sizes that fill nothing evenly.
[[nodiscard]] inline std::vector<RowCase> row_cases() {
    std::vector<RowCase> cases;
    for (const std::int64_t cols :
         {1,    2,    7,     8,     31,    33,    64,    100,   255,  256,
          257,  504,  512,   520,   1000,  1024,  1025,  1032,  4096, 5000,
          8192, 8193, 16384, 16392, 20000, 32768, 32776, 40001, 70000}) {
        const std::int64_t rows = cols < 1500 ? 37 : cols < 10000 ? 5 : 2;
        cases.push_back({rows, cols, true});
        cases.push_back({rows, cols, false});
    }
    cases.push_back({1, 128, true});
    cases.push_back({1000, 24, true});
    return cases;
}

// Whether `out` holds what `reference` says, and nothing else was written.
inline void expect_matches(const Tensor& out, const std::vector<double>& reference,
                           double tolerance) {
    const Errors found = errors(out.values(), reference);
    EXPECT_LE(found.relative, tolerance);
    // The largest element may be many times the rms, and rounding goes with it.
    double largest = 0;
    double sum_sq = 0;
    for (const double value : reference) {
        largest = std::max(largest, std::abs(value));
        sum_sq += value * value;
    }
    const double rms = std::sqrt(sum_sq / static_cast<double>(reference.size()));
    if (rms > 0) {
        EXPECT_LE(found.maximum, 4 * tolerance * std::max(1.0, largest / rms));
    }
    EXPECT_EQ(out.written_outside(), 0);
}

}  // namespace etalon::kernels::testing
