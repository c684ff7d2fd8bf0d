#include "harness/history/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/history/series_shapes.h"
#include "harness/stats/simulation.h"
#include "harness/testing/scratch.h"

namespace etalon::history {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As a case of the gate has it: a class of 0.4 % that speaks for six nights.
constexpr DetectOptions in_store = {.prior_sigma = 0.004, .prior_weight = 6};

std::vector<std::size_t> places(const Detection& found) {
    std::vector<std::size_t> at;
    for (const ChangePoint& point : found.points) at.push_back(point.at);
    return at;
}

// Every shape must have the same answer with and without a class to lean on.
class Shapes : public testing::TestWithParam<DetectOptions> {
   protected:
    static Detection of(const std::vector<double>& logs) { return detect(logs, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Priors, Shapes, testing::Values(DetectOptions{}, in_store));

TEST_P(Shapes, OfTooFewValuesCannotBeDecided) {
    for (const auto& few : {log_of({}), log_of({100}), log_of({100, 100}), log_of({100, 100, 150}),
                            log_of({100, 100, 150, 150})}) {
        const Detection found = of(few);
        EXPECT_FALSE(found.decidable) << few.size();
        EXPECT_THAT(found.points, IsEmpty());
        EXPECT_EQ(found.fitted.size(), few.size());
    }
    EXPECT_TRUE(of(levels({{100, 5}})).decidable);
}

TEST_P(Shapes, AllEqualHasNoPoint) {
    for (const int n : {5, 20, 365}) {
        const Detection found = of(levels({{100, n}}));
        EXPECT_THAT(found.points, IsEmpty());
        EXPECT_THAT(found.drifts, IsEmpty());
        EXPECT_THAT(found.outliers, IsEmpty());
        EXPECT_GT(found.sigma, 0);
    }
}

TEST_P(Shapes, OneNightIsACandidateAndTheSecondAPoint) {
    const Detection first = of(levels({{100, 39}, {101, 1}}));
    EXPECT_THAT(first.points, IsEmpty());
    EXPECT_TRUE(first.last_stands_apart);
    const Detection second = of(levels({{100, 39}, {101, 2}}));
    EXPECT_THAT(places(second), ElementsAre(39u));
    EXPECT_NEAR(second.points[0].ratio.value, 1.01, 1e-6);
}

TEST_P(Shapes, UnderTheLeastEffectIsNone) {
    EXPECT_THAT(of(levels({{100, 20}, {100.0001, 20}})).points, IsEmpty());
    EXPECT_THAT(of(levels({{100, 20}, {100.2, 20}})).points, IsEmpty());
    EXPECT_THAT(places(of(levels({{100, 20}, {100.4, 20}}))), ElementsAre(20u));
}

TEST_P(Shapes, ASpikeIsAnOutlier) {
    for (const double height : {103.0, 150.0, 2e5}) {
        const Detection middle = of(levels({{100, 20}, {height, 1}, {100, 20}}));
        EXPECT_THAT(middle.points, IsEmpty()) << height;
        EXPECT_THAT(middle.drifts, IsEmpty()) << height;
        EXPECT_THAT(middle.outliers, ElementsAre(20u)) << height;
        EXPECT_FALSE(middle.last_stands_apart);
        const Detection end = of(levels({{100, 20}, {height, 1}}));
        EXPECT_THAT(end.points, IsEmpty()) << height;
        EXPECT_TRUE(end.last_stands_apart);
        EXPECT_THAT(of(levels({{height, 1}, {100, 20}})).points, IsEmpty()) << height;
    }
}

TEST_P(Shapes, FiveAndFiveAreEnough) {
    const Detection found = of(log_of({115, 114, 115, 115, 115, 78.8, 78.8, 78.8, 78.8, 78.8}));
    EXPECT_THAT(places(found), ElementsAre(5u));
    EXPECT_NEAR(found.points[0].ratio.value, 78.8 / 114.8, 0.01);
    EXPECT_THAT(places(of(log_of({78.8, 78.8, 78.8, 78.8, 78.8, 115, 114, 115, 115, 115}))),
                ElementsAre(5u));
}

TEST_P(Shapes, CreepingByFourPercentANightIsADrift) {
    std::vector<double> creeping = levels({{1, 20}});
    for (int night = 1; night <= 12; ++night) creeping.push_back(night * std::log(1.04));
    const Detection found = of(creeping);
    EXPECT_THAT(found.points, IsEmpty());
    ASSERT_EQ(found.drifts.size(), 1u);
    EXPECT_NEAR(found.drifts[0].per_value, 0.04, 0.003);
    EXPECT_NEAR(static_cast<double>(found.drifts[0].first), 20, 2);
    EXPECT_EQ(found.drifts[0].last, 31u);
    // From its very first night on.
    const std::vector<double> only(creeping.begin() + 19, creeping.begin() + 27);
    EXPECT_EQ(of(only).drifts.size(), 1u);
    EXPECT_THAT(of(only).points, IsEmpty());
}

TEST_P(Shapes, BimodalWithOneHugeValueHasNoPoint) {
    stats::Simulation random(fresh_seed());
    std::vector<double> logs;
    for (int night = 0; night < 60; ++night) {
        logs.push_back(std::log(random.uniform() < 0.5 ? 11.0 : 21.0));
    }
    logs[30] = std::log(21364.0);
    EXPECT_THAT(of(logs).points, IsEmpty());
    // By turns, with no chance in it.
    std::vector<double> turns;
    for (int night = 0; night < 60; ++night) turns.push_back(std::log(night % 2 ? 26.7 : 27.6));
    EXPECT_THAT(of(turns).points, IsEmpty());
}

TEST_P(Shapes, TwoChangesTheSecondAnImprovementOnTheFirst) {
    const Detection found = of(levels({{10, 10}, {20, 10}, {15, 10}}));
    EXPECT_THAT(places(found), ElementsAre(10u, 20u));
    EXPECT_NEAR(found.points[0].ratio.value, 2, 1e-6);
    EXPECT_NEAR(found.points[1].ratio.value, 0.75, 1e-6);
    EXPECT_THAT(found.drifts, IsEmpty());
}

TEST_P(Shapes, IsRelativeAndNeverAbsolute) {
    EXPECT_THAT(places(of(levels({{0.030, 20}, {0.033, 20}}))), ElementsAre(20u));
    EXPECT_THAT(places(of(levels({{3e-9, 20}, {3.3e-9, 20}}))), ElementsAre(20u));
    EXPECT_THAT(places(of(levels({{3e12, 20}, {3.3e12, 20}}))), ElementsAre(20u));
}

TEST_P(Shapes, ManyEqualValuesDoNotMakeTheRestSure) {
    // 60 % of the nights equal to the last digit, the others within half a percent.
    stats::Simulation random(fresh_seed());
    std::vector<double> logs;
    for (int night = 0; night < 100; ++night) {
        logs.push_back(random.uniform() < 0.6 ? 0 : 0.002 * random.normal());
    }
    const Detection found = of(logs);
    EXPECT_THAT(found.points, IsEmpty());
    EXPECT_TRUE(std::isfinite(found.sigma) && found.sigma > 0);
}

TEST_P(Shapes, AllOutliersHardlyEverHaveAPoint) {
    stats::Simulation random(fresh_seed());
    constexpr int trials = 500;
    int wrong = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> logs;
        for (int night = 0; night < 50; ++night) {
            logs.push_back(std::tan(1.5 * random.uniform(-1, 1)));  // nearly Cauchy
        }
        const Detection found = of(logs);
        wrong += !found.points.empty();
        EXPECT_TRUE(std::isfinite(found.sigma));
    }
    RecordProperty("wrong", wrong);
    EXPECT_LE(wrong, trials / 20);
}

TEST(Detect, RefusesWhatIsNotFinite) {
    EXPECT_THROW((void)detect(std::vector<double>{0, NAN, 0, 0, 0}), std::invalid_argument);
    EXPECT_THROW((void)detect(std::vector<double>{0, INFINITY, 0}), std::invalid_argument);
}

TEST(Detect, IsTheSameUpsideDown) {
    stats::Simulation random(fresh_seed());
    std::vector<double> logs = random.normals(80, 0, 0.003);
    for (std::size_t i = 50; i < 80; ++i) logs[i] += 0.02;
    std::vector<double> down;
    for (const double value : logs) down.push_back(-value);
    const Detection up = detect(logs), other = detect(down);
    ASSERT_EQ(places(up), places(other));
    EXPECT_NEAR(up.points.at(0).ratio.value * other.points.at(0).ratio.value, 1, 1e-9);
}

TEST(Detect, IntervalsCoverTheTruth) {
    stats::Simulation random(fresh_seed());
    int found = 0, place = 0, size = 0;
    constexpr int trials = 400;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> logs = random.normals(120, 0, 0.005);
        for (std::size_t i = 80; i < 120; ++i) logs[i] += std::log(1.01);
        const Detection d = detect(logs);
        if (d.points.size() != 1) continue;
        ++found;
        place += d.points[0].earliest <= 80 && 80 <= d.points[0].latest;
        size += d.points[0].ratio.lo <= 1.01 && 1.01 <= d.points[0].ratio.hi;
    }
    EXPECT_GE(found, trials * 0.97);
    // 95 % meant; the size is that of the best place, which costs a little.
    EXPECT_GE(place, found * 0.90);
    EXPECT_GE(size, found * 0.90);
}

TEST(Detect, TellsAutocorrelationFromSteps) {
    stats::Simulation random(fresh_seed());
    double rho = 0;
    constexpr int trials = 60;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> logs;
        double r = random.normal();
        for (int night = 0; night < 300; ++night) {
            r = 0.45 * r + std::sqrt(1 - 0.45 * 0.45) * random.normal();
            logs.push_back(0.005 * r);
        }
        rho += detect(logs).rho / trials;
    }
    EXPECT_NEAR(rho, 0.45, 0.1);
}

TEST(Detect, DriftIsMeasuredWithItsInterval) {
    stats::Simulation random(fresh_seed());
    int found = 0, covered = 0;
    constexpr int trials = 400;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> logs = random.normals(150, 0, 0.003);
        for (std::size_t i = 0; i < logs.size(); ++i)
            logs[i] += 0.03 * static_cast<double>(i) / 149;
        const Detection d = detect(logs);
        if (d.drifts.size() != 1 || !d.points.empty()) continue;
        ++found;
        covered += d.drifts[0].ratio.lo <= std::exp(0.03) && std::exp(0.03) <= d.drifts[0].ratio.hi;
    }
    EXPECT_GE(found, trials * 0.92);
    EXPECT_GE(covered, found * 0.92);
}

}  // namespace
}  // namespace etalon::history
