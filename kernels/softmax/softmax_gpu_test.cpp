#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/softmax/softmax.h"
#include "kernels/testing/row_check.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

constexpr double kInfinity = std::numeric_limits<double>::infinity();

SoftmaxArgs args_for(RowType type, const Tensor& x, const Tensor& y) {
    return {type, x.data(), y.data(), x.place().rows, x.place().cols, x.place().ld, y.place().ld};
}

std::vector<double> device_reference(const SoftmaxArgs& args) {
    const auto count = static_cast<std::size_t>(args.rows * args.cols);
    const DeviceMemory memory(count * sizeof(double));
    check(softmax_reference(args, reinterpret_cast<double*>(memory.data()), nullptr));
    return download_doubles(memory, count);
}

// In double on the CPU, from the stored inputs.
std::vector<double> cpu_softmax(const std::vector<double>& x, std::int64_t cols) {
    std::vector<double> y(x.size());
    const auto width = static_cast<std::ptrdiff_t>(cols);
    for (auto row = x.begin(); row != x.end(); row += width) {
        const double maximum = *std::max_element(row, row + width);
        const auto out = y.begin() + (row - x.begin());
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < width; ++i) sum += out[i] = std::exp(row[i] - maximum);
        for (std::ptrdiff_t i = 0; i < width; ++i) out[i] /= sum;
    }
    return y;
}

class Softmax : public ::testing::TestWithParam<RowType> {
   protected:
    // fp16's steps stop shrinking under 6e-5, and a long row's elements are smaller than that.
    static double tolerance(std::int64_t cols) {
        return row_tolerance(GetParam()) +
               (GetParam() == RowType::fp16 ? 3e-8 * static_cast<double>(cols) : 0.0);
    }
    std::mt19937_64 random_{fresh_seed()};
};

TEST_P(Softmax, MatchesReferenceAtEverySizeAndAlignment) {
    const ElementType type = element_type(GetParam());
    for (const RowCase& shape : row_cases()) {
        SCOPED_TRACE(shape.text());
        const auto count = static_cast<std::size_t>(shape.rows * shape.cols);
        const Tensor x(type, shape.place(type, false), normal_values(count, random_, 1.0, 3.0));
        const Tensor y(type, shape.place(type, true));
        const SoftmaxArgs args = args_for(GetParam(), x, y);
        check(softmax(args, nullptr));
        expect_matches(y, device_reference(args), tolerance(shape.cols));
    }
}

TEST_P(Softmax, ReferenceMatchesTheCpu) {
    const ElementType type = element_type(GetParam());
    for (const std::int64_t cols : {1, 3, 300, 1111}) {
        SCOPED_TRACE(cols);
        const Place place{4, cols, cols + 3, 1};
        const Tensor x(type, place,
                       normal_values(static_cast<std::size_t>(4 * cols), random_, 0.0, 5.0));
        const Tensor y(type, place);
        const auto found =
            errors(device_reference(args_for(GetParam(), x, y)), cpu_softmax(x.values(), cols));
        EXPECT_LE(found.relative, 1e-13);
    }
}

TEST_P(Softmax, LargeInputsNeitherOverflowNorVanish) {
    const ElementType type = element_type(GetParam());
    for (const std::int64_t cols : {40, 700, 5000, 50000}) {
        SCOPED_TRACE(cols);
        const Place place{3, cols, cols, 0};
        const auto count = static_cast<std::size_t>(3 * cols);
        const Tensor x(type, place, normal_values(count, random_, 20000.0, 40.0));
        const Tensor y(type, place);
        const SoftmaxArgs args = args_for(GetParam(), x, y);
        check(softmax(args, nullptr));
        // x·log₂e is near 28854, where fp32 steps by 2e-3: a rounded product would show here.
        expect_matches(y, device_reference(args), std::max(tolerance(cols), 2e-5));
    }
}

TEST_P(Softmax, MinusInfinityGivesZeroAndNaNStays) {
    const ElementType type = element_type(GetParam());
    for (const std::int64_t cols : {5, 300, 2048, 50000}) {
        SCOPED_TRACE(cols);
        const Place place{4, cols, cols, 0};
        const auto width = static_cast<std::size_t>(cols);
        std::vector<double> values = normal_values(4 * width, random_);
        for (std::size_t i = 0; i < width; i += 2) values[i] = -kInfinity;         // every other
        for (std::size_t i = width; i < 2 * width; ++i) values[i] = -kInfinity;    // all
        values[2 * width + width / 2] = std::numeric_limits<double>::quiet_NaN();  // one NaN
        values[3 * width + width / 2] = kInfinity;
        const Tensor x(type, place, values);
        const Tensor y(type, place);
        check(softmax(args_for(GetParam(), x, y), nullptr));
        const std::vector<double> out = y.values();
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) {
            if (i % 2 == 0) {
                EXPECT_EQ(out[i], 0.0);
            }
            sum += out[i];
            EXPECT_EQ(out[width + i], 0.0);
            EXPECT_TRUE(std::isnan(out[2 * width + i]));
            EXPECT_TRUE(std::isnan(out[3 * width + i]));
            if (HasFailure()) return;
        }
        EXPECT_NEAR(sum, 1.0, 0.02);
    }
}

TEST_P(Softmax, WorksInPlace) {
    const ElementType type = element_type(GetParam());
    for (const std::int64_t cols : {64, 3000, 70000}) {
        SCOPED_TRACE(cols);
        const Place place{2, cols, aligned_ld(type, cols), 0};
        const auto count = static_cast<std::size_t>(2 * cols);
        const Tensor x(type, place, normal_values(count, random_));
        const SoftmaxArgs args = args_for(GetParam(), x, x);
        const std::vector<double> reference = device_reference(args);
        check(softmax(args, nullptr));
        expect_matches(x, reference, tolerance(cols));
    }
}

TEST_P(Softmax, RefusesRowsThatOverlap) {
    float value = 0;
    EXPECT_EQ(softmax({GetParam(), &value, &value, 2, 8, 7, 8}, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(softmax({GetParam(), &value, &value, 2, 0, 8, 8}, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(softmax({GetParam(), nullptr, nullptr, 0, 8, 8, 8}, nullptr), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Types, Softmax,
                         ::testing::Values(RowType::fp32, RowType::bf16, RowType::fp16),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace etalon::kernels
