#include "harness/stats/modes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "harness/testing/scratch.h"

namespace etalon::stats {
namespace {

using Draw = std::function<double(std::mt19937_64&)>;

// How many of 2000 sets of 64 values are taken for two speeds.
int found(const Draw& draw, std::mt19937_64& random, double quantum_ns = 0) {
    int count = 0;
    for (int set = 0; set < 2000; ++set) {
        std::vector<double> values;
        for (int i = 0; i < 64; ++i) values.push_back(draw(random));
        count += modes(values, quantum_ns).modes.empty() ? 0 : 1;
    }
    return count;
}

TEST(Modes, OneSpeedOfAnyShapeStaysOne) {
    std::mt19937_64 random(fresh_seed());
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::exponential_distribution<double> exponential;
    EXPECT_EQ(found([&](auto& r) { return 1000 * (1 + 0.02 * normal(r)); }, random), 0);
    EXPECT_EQ(found([&](auto& r) { return 1000 * (1 + 0.1 * uniform(r)); }, random), 0);
    // A long tail now and then has a few values far out together: one set in a thousand.
    EXPECT_LE(found([&](auto& r) { return 1000 * (1 + 0.05 * exponential(r)); }, random), 8);
    EXPECT_EQ(found([&](auto& r) { return 1000 * std::exp(0.1 * normal(r)); }, random), 0);
    // A spike now and then is no speed.
    EXPECT_LE(
        found([&](auto& r) { return uniform(r) < 0.02 ? 2000 : 1000 * (1 + 0.001 * normal(r)); },
              random),
        2);
    // Nor are the steps of the timer: 2 µs in steps of 32 ns.
    const auto stepped = [&](auto& r) { return 32 * std::round((2000 + 10 * normal(r)) / 32); };
    EXPECT_EQ(found(stepped, random, 32), 0);
}

TEST(Modes, TwoSpeedsAreFoundWithTheirWeights) {
    std::mt19937_64 random(fresh_seed());
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (const double weight : {0.25, 0.5, 0.75}) {
        const auto draw = [&](auto& r) {
            return (uniform(r) < weight ? 26700 : 27600) * (1 + 0.002 * normal(r));
        };
        EXPECT_GE(found(draw, random), 1980) << weight;
        std::vector<double> values;
        for (int i = 0; i < 4000; ++i) values.push_back(draw(random));
        const Modes two = modes(values);
        ASSERT_EQ(two.modes.size(), 2U);
        EXPECT_NEAR(two.modes[0].time_ns, 26700, 20);
        EXPECT_NEAR(two.modes[1].time_ns, 27600, 20);
        EXPECT_NEAR(two.modes[0].weight, weight, 0.03);
        EXPECT_NEAR(two.modes[0].weight + two.modes[1].weight, 1, 1e-12);
        EXPECT_GT(two.boundary_ns, 26700);
        EXPECT_LT(two.boundary_ns, 27600);
    }
}

TEST(Modes, TooFewOrTooCloseAreOne) {
    EXPECT_TRUE(modes({}).modes.empty());
    EXPECT_TRUE(modes(std::vector<double>{1, 1, 1, 2, 2, 2}).modes.empty());
    EXPECT_TRUE(modes(std::vector<double>(64, 5)).modes.empty());
    std::vector<double> close(32, 1000);
    close.resize(64, 1009);  // 0.9 %
    EXPECT_TRUE(modes(close).modes.empty());
    close.resize(32);
    close.resize(64, 1011);
    EXPECT_EQ(modes(close).modes.size(), 2U);
    EXPECT_TRUE(modes(close, 3).modes.empty());  // 11 ns are not four steps of 3
}

TEST(Modes, AFactorIsNamedOnlyWhereTheSpeedFollowsIt) {
    std::mt19937_64 random(fresh_seed());
    std::vector<double> times;
    std::vector<int> set, block;
    for (int i = 0; i < 60; ++i) {
        set.push_back(i % 3);
        block.push_back(i / 8);
        times.push_back(i % 3 == 2 ? 1050 : 1000);
    }
    const Modes two = modes(times);
    EXPECT_TRUE(follows(two, times, set));
    EXPECT_FALSE(follows(two, times, block));
    EXPECT_FALSE(follows(two, times, std::vector<int>(60, 0)));
    EXPECT_FALSE(follows({}, times, set));
    std::shuffle(times.begin(), times.end(), random);
    EXPECT_FALSE(follows(modes(times), times, set));
}

TEST(Modes, AsJson) {
    EXPECT_EQ(to_json({}, "load"), "");
    EXPECT_EQ(to_json({{{26700, 0.75}, {27600, 0.25}}, 27000}, "buffer set"),
              R"({"modes":[{"time_ns":26700.0,"weight":0.750},{"time_ns":27600.0,"weight":0.250}],)"
              R"("follows":"buffer set"})");
    EXPECT_EQ(modes_text(to_json({{{26700, 0.75}, {27600, 0.25}}, 27000}, "buffer set")),
              ", two speeds: 26.7 µs (75 %) and 27.6 µs, following the buffer set");
    EXPECT_EQ(modes_text(""), "");
    EXPECT_EQ(modes_text("not JSON"), "");
}

}  // namespace
}  // namespace etalon::stats
