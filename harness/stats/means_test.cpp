#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

TEST(RatioOfMedians, IsDeterministicForASeed) {
    Simulation random(3);
    const auto a = random.normals(64, 100, 1), b = random.normals(64, 50, 1);
    const Estimate first = ratio_of_medians(a, b, 42), again = ratio_of_medians(a, b, 42);
    EXPECT_EQ(first.lo, again.lo);
    EXPECT_EQ(first.hi, again.hi);
    const Estimate other = ratio_of_medians(a, b, 43);
    EXPECT_NE(first.lo, other.lo);
    EXPECT_NEAR(first.lo, other.lo, 0.01);
}

TEST(RatioOfMedians, KnowsTheExactDistributionOfASmallResample) {
    // Of {1, 2, 3} the median of a resample is 1 with probability
    // 7/27, 2 with 13/27, 3 with 7/27: the 30 % and 70 % points are 2, the 20 % point is 1.
    const std::vector<double> a = {1, 2, 3}, one = {1};
    const Estimate wide = ratio_of_medians(a, one, 1, 20000, 0.5);    // 25 % and 75 % points
    const Estimate narrow = ratio_of_medians(a, one, 1, 20000, 0.4);  // 30 % and 70 % points
    EXPECT_EQ(wide.lo, 1);
    EXPECT_EQ(wide.hi, 3);
    EXPECT_EQ(narrow.lo, 2);
    EXPECT_EQ(narrow.hi, 2);
    // Of two values the resampled median is the low, the middle or the high one: 1/4, 1/2, 1/4.
    const std::vector<double> two = {1, 3};
    EXPECT_EQ(ratio_of_medians(two, one, 1, 20000, 0.4).lo, 2);
    EXPECT_EQ(ratio_of_medians(two, one, 1, 20000, 0.6).lo, 1);
}

class RatioCoverage : public testing::TestWithParam<std::size_t> {};

TEST_P(RatioCoverage, IsWhatItSays) {
    Simulation random(GetParam() + 100);
    constexpr int trials = 1500;
    int covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        auto a = random.normals(GetParam()), b = random.normals(GetParam());
        for (double& value : a) value = 1.1 * std::exp(0.02 * value);
        for (double& value : b) value = std::exp(0.02 * value);
        const Estimate ratio = ratio_of_medians(a, b, static_cast<std::uint64_t>(trial), 500);
        covered += ratio.lo <= 1.1 && 1.1 <= ratio.hi;
    }
    EXPECT_GE(covered, trials * 0.93);
    EXPECT_LE(covered, trials * 0.985);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RatioCoverage, testing::Values(15, 64, 65));

TEST(RatioOfMedians, RefusesWhatHasNoAnswer) {
    const std::vector<double> one = {1};
    EXPECT_THROW((void)ratio_of_medians({}, one, 1), std::invalid_argument);
    EXPECT_THROW((void)ratio_of_medians(one, {}, 1), std::invalid_argument);
    EXPECT_THROW((void)ratio_of_medians(one, one, 1, 0), std::invalid_argument);
}

TEST(GeometricMean, MatchesItsClosedForm) {
    // Logs 0 and ln 4: mean ln 2, standard error ln 2, t(0.975, 1) = 12.7062.
    const Estimate mean = geometric_mean(std::vector<double>{1, 4});
    EXPECT_DOUBLE_EQ(mean.value, 2);
    EXPECT_NEAR(std::log(mean.hi), std::log(2) * (1 + 12.7062047), 1e-6);
    EXPECT_NEAR(std::log(mean.lo), std::log(2) * (1 - 12.7062047), 1e-6);
    const Estimate single = geometric_mean(std::vector<double>{3});
    EXPECT_EQ(single.lo, 3);
    EXPECT_EQ(single.hi, 3);
    EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{1e-300, 1e300}).value, 1);
}

TEST(GeometricMean, CoversTheTruth) {
    Simulation random(9);
    constexpr int trials = 4000;
    int covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        auto ratios = random.normals(8);
        for (double& ratio : ratios) ratio = std::exp(0.3 + 0.1 * ratio);
        const Estimate mean = geometric_mean(ratios);
        covered += mean.lo <= std::exp(0.3) && std::exp(0.3) <= mean.hi;
    }
    EXPECT_NEAR(covered / double{trials}, 0.95, 0.012);
}

TEST(GeometricMean, RefusesWhatHasNoLogarithm) {
    EXPECT_THROW((void)geometric_mean({}), std::invalid_argument);
    EXPECT_THROW((void)geometric_mean(std::vector<double>{1, 0}), std::invalid_argument);
    EXPECT_THROW((void)geometric_mean(std::vector<double>{1, -2}), std::invalid_argument);
    EXPECT_THROW((void)geometric_mean(std::vector<double>{1, NAN}), std::invalid_argument);
}

}  // namespace
}  // namespace etalon::stats
