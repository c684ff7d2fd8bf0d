#include <gtest/gtest.h>

#include <cmath>

#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

constexpr double reference_mhz = 1980;

struct Kernel {
    double e = 1;
    double time_ns = 100e3;  // at the reference clock
    double noise = 0.002;    // relative
    double outliers = 0;     // share of samples that take 30 to 100 % longer
};

// Half the samples cool (near 1900 MHz), half hot (near 1500 MHz).
std::vector<Sample> samples_of(const Kernel& kernel, std::size_t n, Simulation& random,
                               double hot_mhz = 1500, double cool_mhz = 1900) {
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < n; ++i) {
        const double clock = (i % 2 == 0 ? cool_mhz : hot_mhz) * (1 + 0.005 * random.normal());
        double time = kernel.time_ns * std::pow(reference_mhz / clock, kernel.e) *
                      std::exp(kernel.noise * random.normal());
        if (random.uniform() < kernel.outliers) time *= random.uniform(1.3, 2);
        samples.push_back({time, clock});
    }
    return samples;
}

class Elasticity : public testing::TestWithParam<double> {};

TEST_P(Elasticity, IsRecoveredDespiteOutliers) {
    Simulation random(11);
    constexpr int trials = 400;
    int covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const auto samples = samples_of({.e = GetParam(), .outliers = 0.15}, 64, random);
        const Estimate e = elasticity(samples, {});
        EXPECT_NEAR(e.value, GetParam(), 0.03);
        EXPECT_LT(e.hi - e.lo, 0.03);
        covered += e.lo <= GetParam() && GetParam() <= e.hi;
    }
    EXPECT_GE(covered, trials * 0.92);
}

INSTANTIATE_TEST_SUITE_P(FromMemoryToCompute, Elasticity, testing::Values(0.0, 0.09, 0.5, 0.96));

TEST(ElasticityInterval, CoversWithFewSamples) {
    Simulation random(12);
    for (const std::size_t n : {std::size_t{5}, std::size_t{15}, std::size_t{200}}) {
        constexpr int trials = 1000;
        int covered = 0;
        for (int trial = 0; trial < trials; ++trial) {
            const Estimate e = elasticity(samples_of({.e = 0.8, .noise = 0.005}, n, random), {});
            covered += e.lo <= 0.8 && 0.8 <= e.hi;
        }
        EXPECT_GE(covered, trials * (n < 10 ? 0.88 : 0.925)) << n;
    }
}

TEST(ElasticityPrior, IsTheAnswerWithoutSpread) {
    const ElasticityPrior prior{0.9, 0.1};
    const auto is_prior = [&](const std::vector<Sample>& samples) {
        const Estimate e = elasticity(samples, prior);
        EXPECT_DOUBLE_EQ(e.value, 0.9);
        EXPECT_NEAR(e.lo, 0.9 - 0.196, 1e-4);
        EXPECT_NEAR(e.hi, 0.9 + 0.196, 1e-4);
    };
    is_prior({});
    is_prior({{100, 1500}, {90, 1900}});
    is_prior(std::vector<Sample>(30, Sample{100, 1500}));
    is_prior({{100, 0}, {90, 0}, {80, 0}, {70, 0}});
    // One clock apart from the rest, and it is an outlier in time.
    std::vector<Sample> lone(30, Sample{100, 1500});
    lone.push_back({300, 1900});
    const Estimate e = elasticity(lone, {0.5, 0.5});
    EXPECT_TRUE(std::isfinite(e.value));
    EXPECT_LE(e.lo, e.hi);
}

TEST(ElasticityPrior, WinsWhenTheClockHardlyMoved) {
    // The clock moved by less than it can be read: the slope says nothing, however many samples.
    Simulation random(13);
    std::vector<Sample> samples;
    for (int i = 0; i < 500; ++i) {
        const double true_clock = 1700 * (1 + 0.0003 * random.normal());
        samples.push_back({1e5 * std::pow(reference_mhz / true_clock, 1.0),
                           true_clock * (1 + 0.001 * random.normal())});
    }
    const Estimate e = elasticity(samples, {1.0, 0.1});
    EXPECT_NEAR(e.value, 1.0, 0.05);
    EXPECT_TRUE(e.lo <= 1.0 && 1.0 <= e.hi);
}

TEST(ElasticityPrior, IsCombinedByPrecision) {
    // Exact line: the measured slope is as sure as can be, so a wrong vague prior does not matter,
    // and a prior of no width is taken at its word.
    std::vector<Sample> samples;
    for (int i = 0; i < 40; ++i) {
        const double clock = 1400 + 15 * i;
        samples.push_back({1e5 * std::pow(reference_mhz / clock, 0.7), clock});
    }
    EXPECT_NEAR(elasticity(samples, {0.0, 0.5}).value, 0.7, 1e-3);
    EXPECT_EQ(elasticity(samples, {0.2, 0.0}).value, 0.2);
}

TEST(NormalisedTime, IsTheSameForCoolAndHotBlocks) {
    for (const double e : {0.0, 0.1, 0.8, 1.0}) {
        Simulation random(14);
        const Kernel kernel{.e = e, .outliers = 0.05};
        const Estimate learnt = elasticity(samples_of(kernel, 64, random), {});
        const auto cool = samples_of(kernel, 41, random, 1890, 1890);
        const auto hot = samples_of(kernel, 41, random, 1480, 1480);
        const Estimate at_cool = normalised_time(cool, learnt, reference_mhz);
        const Estimate at_hot = normalised_time(hot, learnt, reference_mhz);
        EXPECT_NEAR(at_cool.value / at_hot.value, 1, 0.005) << e;
        EXPECT_NEAR(at_cool.value, kernel.time_ns, 0.005 * kernel.time_ns) << e;
        EXPECT_TRUE(at_hot.lo <= kernel.time_ns && kernel.time_ns <= at_hot.hi) << e;
    }
}

TEST(NormalisedTime, CarriesTheErrorOfTheElasticity) {
    // All samples equal, so the interval is that of e alone: ±0.1 at half the reference clock.
    const std::vector<Sample> samples(20, Sample{1000, 990});
    const Estimate time = normalised_time(samples, {1.0, 0.9, 1.1}, 1980);
    EXPECT_NEAR(time.value, 500, 1e-9);
    EXPECT_NEAR(time.hi, 500 * std::pow(2, 0.1), 1e-9);
    EXPECT_NEAR(time.lo, 500 / std::pow(2, 0.1), 1e-9);
    // At the reference clock it does not matter.
    const Estimate there = normalised_time(samples, {1.0, 0.9, 1.1}, 990);
    EXPECT_EQ(there.lo, 1000);
    EXPECT_EQ(there.hi, 1000);
}

TEST(NormalisedTime, FallsBackToRawWithoutClocks) {
    const std::vector<Sample> samples = {{10, 0}, {12, 0}, {11, 0}};
    const Estimate time = normalised_time(samples, {0.9, 0.8, 1.0}, 1980);
    EXPECT_EQ(time.value, 11);
    EXPECT_EQ(time.lo, 10);
    EXPECT_EQ(time.hi, 12);
    const std::vector<Sample> with_clock = {{10, 1500}, {12, 1600}, {11, 1700}};
    EXPECT_EQ(normalised_time(with_clock, {0.9, 0.8, 1.0}, 0).value, 11);
    // Samples without a clock are left out when others have one.
    const std::vector<Sample> mixed = {{10, 990}, {10, 990}, {1e6, 0}};
    EXPECT_NEAR(normalised_time(mixed, {1, 1, 1}, 1980).value, 5, 1e-12);
}

}  // namespace
}  // namespace etalon::stats
