#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

TEST(Quantile, InterpolatesAsType7) {
    const std::vector<double> values = {4, 1, 3, 2};  // R: quantile(1:4, c(.1, .25, .5, .9))
    EXPECT_DOUBLE_EQ(quantile(values, 0.1), 1.3);
    EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
    EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile(values, 0.9), 3.7);
    EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
    EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
    EXPECT_DOUBLE_EQ(quantile(std::vector<double>{7}, 0.3), 7);
}

TEST(Quantile, RefusesWhatHasNoAnswer) {
    EXPECT_THROW((void)quantile({}, 0.5), std::invalid_argument);
    EXPECT_THROW((void)median({}), std::invalid_argument);
    EXPECT_THROW((void)mad_sigma({}), std::invalid_argument);
    EXPECT_THROW((void)median_interval({}), std::invalid_argument);
    const std::vector<double> one = {1};
    EXPECT_THROW((void)quantile(one, -0.1), std::invalid_argument);
    EXPECT_THROW((void)quantile(one, NAN), std::invalid_argument);
    EXPECT_THROW((void)median_interval(one, 1), std::invalid_argument);
}

TEST(Mad, IsSigmaForNormalDataAndDeafToOutliers) {
    Simulation random(1);
    std::vector<double> values = random.normals(20000, 50, 3);
    EXPECT_NEAR(mad_sigma(values), 3, 0.06);
    for (std::size_t i = 0; i < 200; ++i) values[i] = 1e9;
    EXPECT_NEAR(mad_sigma(values), 3, 0.12);
    EXPECT_EQ(mad_sigma(std::vector<double>{5, 5, 5, 5, 1e6}), 0);
}

TEST(MedianInterval, TakesTheTabulatedOrderStatistics) {
    // Tables of the binomial (e.g. David & Nagaraja 2003): n = 10 → 2nd and 9th (97.9 %),
    // 15 → 4th and 12th (96.5 %), 20 → 6th and 15th (95.9 %), 6 → the range (96.9 %).
    const auto at = [](std::size_t n) {
        std::vector<double> ranks;
        for (std::size_t i = n; i > 0; --i) ranks.push_back(static_cast<double>(i));
        return median_interval(ranks);
    };
    EXPECT_EQ(at(10).lo, 2);
    EXPECT_EQ(at(10).hi, 9);
    EXPECT_EQ(at(15).lo, 4);
    EXPECT_EQ(at(15).hi, 12);
    EXPECT_EQ(at(20).lo, 6);
    EXPECT_EQ(at(20).hi, 15);
    EXPECT_EQ(at(6).lo, 1);
    EXPECT_EQ(at(6).hi, 6);
    // Too few for 95 %: the range.
    EXPECT_EQ(at(5).lo, 1);
    EXPECT_EQ(at(5).hi, 5);
    EXPECT_EQ(at(1).lo, 1);
    EXPECT_EQ(at(1).hi, 1);
}

class MedianCoverage : public testing::TestWithParam<std::size_t> {};

TEST_P(MedianCoverage, IsWhatItSays) {
    // Log-normal: skewed, as times are. The median is 1.
    Simulation random(GetParam());
    constexpr int trials = 4000;
    int covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> values = random.normals(GetParam());
        for (double& value : values) value = std::exp(value);
        const Estimate interval = median_interval(values);
        EXPECT_LE(interval.lo, interval.value);
        EXPECT_LE(interval.value, interval.hi);
        covered += interval.lo <= 1 && 1 <= interval.hi;
    }
    // Never under 95 % but for chance (σ = 0.34 %), and no wilder than one order statistic allows.
    EXPECT_GE(covered, trials * 0.94);
    EXPECT_LE(covered, trials * 0.985);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MedianCoverage, testing::Values(6, 15, 16, 31, 64, 201));

TEST(MedianInterval, EqualValuesGiveAPoint) {
    const Estimate interval = median_interval(std::vector<double>(40, 12.5));
    EXPECT_EQ(interval.lo, 12.5);
    EXPECT_EQ(interval.value, 12.5);
    EXPECT_EQ(interval.hi, 12.5);
}

}  // namespace
}  // namespace etalon::stats
