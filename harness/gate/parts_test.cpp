#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/core/environment_change.h"
#include "harness/gate/false_discovery.h"
#include "harness/gate/run_noise.h"
#include "harness/gate/verdict.h"
#include "harness/stats/simulation.h"

namespace etalon::gate {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(BenjaminiHochberg, MatchesTheirExample) {
    // Benjamini & Hochberg 1995, table of 15 p-values: four are discoveries at 0.05.
    const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                   0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    const std::vector<double> q = benjamini_hochberg(p);
    EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double value) { return value <= 0.05; }), 4);
    EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
    EXPECT_EQ(q[14], 1);
}

TEST(BenjaminiHochberg, KeepsTheOrderGivenAndStaysMonotone) {
    EXPECT_THAT(
        benjamini_hochberg(std::vector<double>{0.04, 0.01, 0.03}),
        ElementsAre(DoubleNear(0.04, 1e-12), DoubleNear(0.03, 1e-12), DoubleNear(0.04, 1e-12)));
    EXPECT_TRUE(benjamini_hochberg({}).empty());
    EXPECT_THAT(benjamini_hochberg(std::vector<double>{NAN, 0.01}),
                ElementsAre(1, DoubleNear(0.02, 1e-12)));
}

TEST(BenjaminiHochberg, ControlsTheShareOfFalseDiscoveries) {
    stats::Simulation random(5);
    constexpr int families = 2000, size = 100, real = 20;
    double share = 0;
    for (int family = 0; family < families; ++family) {
        std::vector<double> p(size);
        for (int i = 0; i < size; ++i) {
            const double z = random.normal() + (i < real ? 3 : 0);
            p[static_cast<std::size_t>(i)] = std::erfc(std::fabs(z) / std::sqrt(2.0));
        }
        const std::vector<double> q = benjamini_hochberg(p);
        int found = 0, wrong = 0;
        for (int i = 0; i < size; ++i) {
            if (q[static_cast<std::size_t>(i)] > 0.1) continue;
            ++found;
            wrong += i >= real;
        }
        share += found == 0 ? 0 : double{1} * wrong / found;
    }
    EXPECT_NEAR(share / families, 0.1 * (size - real) / size, 0.01);
}

std::vector<RunValue> values(const std::vector<double>& times) {
    std::vector<RunValue> all;
    for (const double time : times) all.push_back({std::log(time), 0});
    return all;
}

using Groups = std::vector<std::vector<RunValue>>;

TEST(RunNoise, IsTheClassWithoutHistory) {
    const Groups short_groups = {values({100, 101}), values({90})};
    EXPECT_DOUBLE_EQ(run_noise(short_groups, 0.004).sigma, 0.004);
    EXPECT_DOUBLE_EQ(run_noise({}, 0.004).sigma, 0.004);
    EXPECT_EQ(run_noise({}, 0.004).freedom, class_freedom);
}

TEST(RunNoise, GoesToTheHistoryAsItGrows) {
    stats::Simulation random(6);
    for (const double truth : {0.001, 0.01}) {
        double sigma = 0;
        for (int i = 0; i < 200; ++i) {
            std::vector<RunValue> group;
            for (const double z : random.normals(200)) group.push_back({truth * z, 0});
            sigma += run_noise(Groups{group}, 0.004).sigma / 200;
        }
        EXPECT_NEAR(sigma, truth, 0.25 * truth) << truth;
    }
}

TEST(RunNoise, LeavesTheErrorWithinRunsOut) {
    stats::Simulation random(7);
    std::vector<RunValue> group;
    for (int i = 0; i < 4000; ++i) {
        group.push_back({0.004 * random.normal() + 0.003 * random.normal(), 0.003});
    }
    EXPECT_NEAR(run_noise(Groups{group}, 0.004).sigma, 0.004, 0.0003);
}

TEST(RunNoise, IsDeafToASpikeAndToEqualValues) {
    std::vector<double> times(20, 100);
    const double quiet = run_noise(Groups{values(times)}, 0.004).sigma;
    EXPECT_GT(quiet, 0);
    times[7] = 21364;
    EXPECT_LT(run_noise(Groups{values(times)}, 0.004).sigma, 0.004);
    EXPECT_TRUE(std::isfinite(quiet));
}

TEST(RobustCentre, IsTheMeanOfGoodDataAndIgnoresASpike) {
    EXPECT_NEAR(robust_centre(values({100, 100.1, 99.9}), 0.004), std::log(100), 1e-5);
    EXPECT_NEAR(robust_centre(values({100, 100, 100, 100, 100, 100, 100, 500}), 0.004),
                std::log(100), 0.002);
    EXPECT_THROW((void)robust_centre({}, 0.004), std::invalid_argument);
}

TEST(LatestLevel, BeginsAfterTheLastStep) {
    const auto begin = [](const std::vector<double>& times) {
        return latest_level(values(times), 0.004, 0.005);
    };
    std::vector<double> steps(10, 10);
    steps.insert(steps.end(), 20, 20);
    EXPECT_EQ(begin(steps), 10u);
    steps.insert(steps.end(), 10, 15);
    EXPECT_EQ(begin(steps), 30u);
    EXPECT_EQ(begin(std::vector<double>(20, 10)), 0u);
    std::vector<double> spike(20, 10);
    spike[10] = 30;
    EXPECT_EQ(begin(spike), 0u);
    spike[10] = 10;
    spike[19] = 30;
    EXPECT_EQ(begin(spike), 0u);
    EXPECT_EQ(begin({}), 0u);
    EXPECT_EQ(begin({1, 2}), 0u);
    std::vector<double> small(10, 100);  // under the least effect
    small.insert(small.end(), 10, 100.001);
    EXPECT_EQ(latest_level(values(small), 1e-7, 0.005), 0u);
}

TEST(LatestLevel, HardlyEverCutsAQuietHistory) {
    stats::Simulation random(8);
    int cut = 0;
    for (int i = 0; i < 2000; ++i) {
        std::vector<RunValue> quiet;
        for (const double z : random.normals(20)) quiet.push_back({0.004 * z, 0});
        cut += latest_level(quiet, 0.004, 0.005) > 0;
    }
    EXPECT_LE(cut, 4);
}

TEST(EnvironmentChanges, NameTheFieldAndBothSides) {
    Environment before;
    before.driver = "580.95";
    before.extra["onednn"] = "3.1";
    Environment after = before;
    after.driver = "590.10";
    after.extra.erase("onednn");
    after.cudnn = "9.14";
    std::vector<std::string> texts;
    for (const FieldChange& change : environment_changes(std::vector{before}, std::vector{after})) {
        texts.push_back(change.text());
    }
    EXPECT_THAT(texts, testing::UnorderedElementsAre("driver 580.95 -> 590.10", "cudnn - -> 9.14",
                                                     "extra.onednn 3.1 -> -"));
    EXPECT_TRUE(environment_changes(std::vector{before}, std::vector{before}).empty());
    EXPECT_TRUE(environment_changes({}, std::vector{before}).empty());
    const auto both = environment_changes(std::vector{before, after}, std::vector{after});
    ASSERT_FALSE(both.empty());
    EXPECT_EQ(both[0].before, "580.95 | 590.10");
}

TEST(Verdict, NamesAreTheDesigns) {
    EXPECT_EQ(name(Verdict::new_case), "new");
    EXPECT_EQ(name(Verdict::slower), "slower");
    EXPECT_EQ(name(Verdict::incorrect), "incorrect");
}

}  // namespace
}  // namespace etalon::gate
