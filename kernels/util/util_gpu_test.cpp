#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "kernels/testing/gpu_test.h"
#include "kernels/util/device_util.h"
#include "kernels/util/probe.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

constexpr ElementType kTypes[] = {ElementType::f64, ElementType::f32,  ElementType::bf16,
                                  ElementType::f16, ElementType::e4m3, ElementType::i8,
                                  ElementType::i32};

struct Moments {
    double mean = 0;
    double sigma = 0;
};

Moments moments(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    Moments found;
    for (const double value : values) found.mean += value / n;
    for (const double value : values) found.sigma += std::pow(value - found.mean, 2) / n;
    found.sigma = std::sqrt(found.sigma);
    return found;
}

Tensor normal_tensor(ElementType type, std::int64_t count, double mean, double sigma,
                     std::uint64_t seed) {
    Tensor tensor(type, {1, count, count, 0});
    check(fill_normal(type, tensor.data(), static_cast<std::size_t>(count), mean, sigma, seed,
                      nullptr));
    return tensor;
}

TEST(Fill, NormalHasItsMomentsAndStaysInside) {
    const std::uint64_t seed = fresh_seed();
    constexpr std::int64_t kCount = 300001;
    for (const ElementType type : kTypes) {
        SCOPED_TRACE(static_cast<int>(type));
        const Tensor tensor = normal_tensor(type, kCount, 3.0, 20.0, seed);
        const Moments found = moments(tensor.values());
        // Six standard errors of the mean, and of the deviation with room for e4m3's rounding.
        EXPECT_NEAR(found.mean, 3.0, 6 * 20.0 / std::sqrt(kCount));
        EXPECT_NEAR(found.sigma, 20.0, 0.25);
        EXPECT_EQ(tensor.written_outside(), 0);
    }
}

TEST(Fill, NormalHasNormalTailsAndNoCorrelation) {
    constexpr std::int64_t kCount = 1000000;
    const auto values = normal_tensor(ElementType::f32, kCount, 0, 1, fresh_seed()).values();
    double beyond_two = 0;
    double fourth = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        beyond_two += std::abs(values[i]) > 2 ? 1 : 0;
        fourth += std::pow(values[i], 4);
        if (i > 0) pairs += values[i] * values[i - 1];
    }
    EXPECT_NEAR(beyond_two / kCount, 0.0455, 6 * 0.00021);
    EXPECT_NEAR(fourth / kCount, 3.0, 6 * 0.0098);  // variance of x⁴ is 96
    EXPECT_NEAR(pairs / kCount, 0.0, 6e-3);
}

TEST(Fill, DependsOnTheSeedAlone) {
    const std::uint64_t seed = fresh_seed();
    const auto one = normal_tensor(ElementType::f64, 5000, 0, 1, seed).values();
    EXPECT_EQ(one, normal_tensor(ElementType::f64, 5000, 0, 1, seed).values());
    // Every type gets the same draws, rounded.
    for (const ElementType type : kTypes) {
        const auto other = normal_tensor(type, 4999, 0, 1, seed).values();
        for (std::size_t i = 0; i < other.size(); ++i) {
            ASSERT_EQ(other[i], rounded(type, one[i]))
                << i << " of type " << static_cast<int>(type);
        }
    }
    const auto next = normal_tensor(ElementType::f64, 5000, 0, 1, seed + 1).values();
    double product = 0;
    for (std::size_t i = 0; i < one.size(); ++i) product += one[i] * next[i];
    EXPECT_LT(std::abs(product), 6 * std::sqrt(5000.0));
}

TEST(Fill, UniformCoversItsRange) {
    const std::uint64_t seed = fresh_seed();
    for (const ElementType type : kTypes) {
        SCOPED_TRACE(static_cast<int>(type));
        const Tensor tensor(type, {1, 99999, 99999, 0});
        check(fill_uniform(type, tensor.data(), 99999, -8.0, 24.0, seed, nullptr));
        const auto values = tensor.values();
        const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
        EXPECT_GE(*lowest, -8.0);
        EXPECT_LE(*highest, 24.0);
        EXPECT_LT(*lowest, -7.4);
        EXPECT_GT(*highest, 23.4);
        EXPECT_NEAR(moments(values).mean, 8.0, 0.2);
        EXPECT_EQ(tensor.written_outside(), 0);
    }
}

TEST(Fill, ConstantIsRoundedAndClamped) {
    const auto stored = [](ElementType type, double value) {
        const Tensor tensor(type, {1, 777, 777, 1});
        check(fill_constant(type, tensor.data(), 777, value, nullptr));
        EXPECT_EQ(tensor.written_outside(), 0);
        const auto values = tensor.values();
        for (const double other : values) EXPECT_EQ(other, values[0]);
        return values[0];
    };
    EXPECT_EQ(stored(ElementType::f64, 0.1), 0.1);
    EXPECT_EQ(stored(ElementType::f32, 0.1), static_cast<double>(0.1F));
    EXPECT_EQ(stored(ElementType::bf16, 1.0 + 1.0 / 128), 1.0 + 1.0 / 128);
    EXPECT_EQ(stored(ElementType::e4m3, 1e6), 448.0);
    EXPECT_EQ(stored(ElementType::e4m3, -1e6), -448.0);
    EXPECT_EQ(stored(ElementType::i8, -500.0), -127.0);
    EXPECT_EQ(stored(ElementType::i8, 2.6), 3.0);
    EXPECT_EQ(stored(ElementType::i32, -70000.4), -70000.0);
}

class Compare : public ::testing::Test {
   protected:
    static CompareResult run(const Tensor& out, const std::vector<double>& ref) {
        const Place& place = out.place();
        const DeviceMemory reference(ref.size() * sizeof(double));
        check(cudaMemcpy(reference.data(), ref.data(), ref.size() * sizeof(double),
                         cudaMemcpyHostToDevice));
        const DeviceMemory result(sizeof(CompareResult));
        check(cudaMemset(result.data(), 0x3F, sizeof(CompareResult)));  // must be overwritten
        check(compare(out.type(), out.data(), place.rows, place.cols, place.ld,
                      reinterpret_cast<const double*>(reference.data()),
                      reinterpret_cast<CompareResult*>(result.data()), nullptr));
        synchronize();
        CompareResult found;
        check(cudaMemcpy(&found, result.data(), sizeof(found), cudaMemcpyDeviceToHost));
        return found;
    }
    std::mt19937_64 random_{fresh_seed()};
};

TEST_F(Compare, SumsAreThoseOfTheHost) {
    for (const ElementType type : kTypes) {
        for (const Place& place : {Place{1, 1, 1, 0}, Place{37, 251, 260, 3}, Place{5000, 3, 4, 0},
                                   Place{2, 40000, 40001, 1}}) {
            SCOPED_TRACE(std::to_string(static_cast<int>(type)) + ": " +
                         std::to_string(place.rows) + " x " + std::to_string(place.cols));
            const auto count = static_cast<std::size_t>(place.rows * place.cols);
            const Tensor out(type, place, normal_values(count, random_, 0, 30));
            const auto ref = normal_values(count, random_, 0, 30);
            const auto values = out.values();
            double sum_sq_diff = 0;
            double sum_sq_ref = 0;
            double largest = 0;
            for (std::size_t i = 0; i < count; ++i) {
                sum_sq_diff += std::pow(values[i] - ref[i], 2);
                sum_sq_ref += ref[i] * ref[i];
                largest = std::max(largest, std::abs(values[i] - ref[i]));
            }
            const CompareResult found = run(out, ref);
            EXPECT_NEAR(found.sum_sq_diff, sum_sq_diff, 1e-10 * sum_sq_diff);
            EXPECT_NEAR(found.sum_sq_ref, sum_sq_ref, 1e-10 * sum_sq_ref);
            EXPECT_DOUBLE_EQ(found.max_abs_diff, largest);
            EXPECT_EQ(found.non_finite, 0);
            EXPECT_EQ(found.padding_written, 0);
        }
    }
}

TEST_F(Compare, CountsWhatIsNotFinite) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> out = {1, kNaN, kInfinity, kNaN, kInfinity, -kInfinity, 2, 3};
    const std::vector<double> ref = {1, 1, 1, kNaN, kInfinity, kInfinity, kNaN, 5};
    const CompareResult found = run(Tensor(ElementType::f32, {2, 4, 5, 0}, out), ref);
    EXPECT_EQ(found.non_finite, 4);  // NaN and ∞ for 1, −∞ for ∞, 2 for NaN
    EXPECT_EQ(found.sum_sq_diff, 4.0);
    EXPECT_EQ(found.sum_sq_ref, 1.0 + 1.0 + 1.0 + 25.0);
    EXPECT_EQ(found.max_abs_diff, 2.0);
}

TEST_F(Compare, CountsWrittenPadding) {
    for (const ElementType type : kTypes) {
        const Tensor out(type, {10, 7, 12, 0}, std::vector<double>(70, 1.0));
        const std::size_t bytes = element_bytes(type);
        auto* const data = static_cast<std::byte*>(out.data());
        check(cudaMemset(data + 7 * bytes, 0, 1));  // one byte of row 0's padding
        check(cudaMemset(data + (9 * 12 + 10) * bytes, 1, 2 * bytes));  // two elements of the last
        EXPECT_EQ(run(out, std::vector<double>(70, 1.0)).padding_written, 3)
            << static_cast<int>(type);
    }
}

int multiprocessors() {
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}

std::vector<ClockReading> download(const DeviceMemory& memory, std::size_t count) {
    std::vector<ClockReading> readings(count);
    synchronize();
    check(cudaMemcpy(readings.data(), memory.data(), count * sizeof(ClockReading),
                     cudaMemcpyDeviceToHost));
    return readings;
}

TEST(Probe, ReadsEverySmsClock) {
    const auto count = static_cast<std::size_t>(multiprocessors());
    const DeviceMemory before(count * sizeof(ClockReading));
    const DeviceMemory after(count * sizeof(ClockReading));
    check(cudaMemset(before.data(), 0, count * sizeof(ClockReading)));
    check(cudaMemset(after.data(), 0, count * sizeof(ClockReading)));
    check(spin(1000, nullptr));  // loads the module
    synchronize();
    check(clock_probe(reinterpret_cast<ClockReading*>(before.data()), nullptr));
    check(spin(2'000'000, nullptr));
    check(clock_probe(reinterpret_cast<ClockReading*>(after.data()), nullptr));
    const auto first = download(before, count);
    const auto second = download(after, count);
    std::size_t covered = 0;
    for (std::size_t sm = 0; sm < count; ++sm) {
        if (first[sm].time_ns == 0 || second[sm].time_ns == 0) continue;
        ++covered;
        const auto elapsed_ns = static_cast<double>(second[sm].time_ns - first[sm].time_ns);
        const auto cycles = static_cast<double>(second[sm].cycles - first[sm].cycles);
        EXPECT_GT(elapsed_ns, 2e6) << sm;
        EXPECT_LT(elapsed_ns, 2e8) << sm;
        EXPECT_GT(cycles / elapsed_ns, 0.2) << sm;  // GHz
        EXPECT_LT(cycles / elapsed_ns, 4.0) << sm;
    }
    EXPECT_GE(covered, count * 9 / 10);
    std::printf("clock probe: %zu of %zu SMs, %.1f MHz on SM 0\n", covered, count,
                1e3 * static_cast<double>(second[0].cycles - first[0].cycles) /
                    static_cast<double>(second[0].time_ns - first[0].time_ns));
}

TEST(Probe, SpinHoldsTheStreamForAsLongAsAsked) {
    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
    check(spin(1000, nullptr));
    synchronize();
    check(cudaEventRecord(start));
    check(spin(3'000'000, nullptr));
    check(cudaEventRecord(stop));
    synchronize();
    float elapsed_ms = 0;
    check(cudaEventElapsedTime(&elapsed_ms, start, stop));
    check(cudaEventDestroy(start));
    check(cudaEventDestroy(stop));
    EXPECT_GE(elapsed_ms, 2.95F);
    EXPECT_LT(elapsed_ms, 60.0F);
}

TEST(Probe, FlushTouchesTheWholeBufferAndNothingElse) {
    constexpr std::int64_t kBytes = (std::int64_t{3} << 20) + 48;
    const Tensor buffer(ElementType::i8, {1, kBytes, kBytes, 0});
    check(flush(buffer.data(), kBytes, nullptr));
    for (const double value : buffer.values()) ASSERT_EQ(value, 0.0);
    EXPECT_EQ(buffer.written_outside(), 0);
    EXPECT_EQ(flush(static_cast<std::byte*>(buffer.data()) + 1, 16, nullptr),
              cudaErrorInvalidValue);
}

}  // namespace
}  // namespace etalon::kernels
