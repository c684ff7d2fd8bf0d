#include "harness/history/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/history/simulated_nights.h"
#include "harness/testing/scratch.h"

namespace etalon::history {
namespace {

const std::vector<std::string> one_case = {"gemm/bf16/m=1/etalon/cold"};
constexpr double inf = std::numeric_limits<double>::infinity();

class LineOf : public testing::Test {
   protected:
    double noisy(double level) { return level * std::exp(0.002 * random_.normal()); }
    stats::Simulation random_{fresh_seed()};
};

TEST_F(LineOf, NamesWhatChangedOnThatNight) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 30; ++i) {
        nights.add(SimulatedNights::environment(i < 20 ? "580.95" : "590.10"),
                   i < 10 ? "aaaa" : "bbbb",
                   [&](std::size_t) { return noisy(i < 20 ? 1e5 : 1.05e5); });
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines.size(), 1u);
    const Line& line = lines[0];
    ASSERT_EQ(line.points.size(), 1u);
    EXPECT_EQ(line.points[0].run, 20u);
    EXPECT_NEAR(line.points[0].point.ratio.value, 1.05, 0.005);
    EXPECT_NEAR(line.points[0].after_ns, 1.05e5, 500);
    ASSERT_EQ(line.points[0].causes.size(), 1u);
    EXPECT_EQ(line.points[0].causes[0].change.text(), "driver 580.95 -> 590.10");
    ASSERT_EQ(line.environment.size(), 1u);  // not each new revision
}

TEST_F(LineOf, NamesANewRevisionToo) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 30; ++i) {
        nights.add(SimulatedNights::environment(), i < 20 ? "aaaa" : "bbbb",
                   [&](std::size_t) { return noisy(i < 20 ? 1e5 : 1.05e5); });
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines[0].points.size(), 1u);
    ASSERT_EQ(lines[0].points[0].causes.size(), 1u);
    EXPECT_EQ(lines[0].points[0].causes[0].change.text(), "revision aaaa -> bbbb");
    EXPECT_TRUE(lines[0].environment.empty());
}

TEST_F(LineOf, HasNoCauseWhereNothingRecordedChanged) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 30; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa",
                   [&](std::size_t) { return noisy(i < 20 ? 1e5 : 0.95e5); });
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines[0].points.size(), 1u);
    EXPECT_TRUE(lines[0].points[0].causes.empty());
    EXPECT_LT(lines[0].points[0].point.ratio.value, 1);
}

TEST_F(LineOf, LeavesOutWhatCannotBeATimeAndFindsTheStep) {
    SimulatedNights nights(one_case);
    const double bad[] = {0, -1, std::nan("stored as none"), inf};
    for (int i = 0; i < 30; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa",
                   [&](std::size_t) { return noisy(i < 15 ? 1e5 : 1.1e5); });
        if (i >= 13 && i < 17) nights.values.values.back().norm_time_ns = bad[i - 13];
    }
    const auto lines = lines_of(nights.sorted());
    EXPECT_EQ(lines[0].left_out, 4);
    EXPECT_EQ(lines[0].nights.size(), 30u);
    ASSERT_EQ(lines[0].points.size(), 1u);
    EXPECT_EQ(lines[0].points[0].run, 17u);  // the first night that has a time
}

TEST_F(LineOf, FailedNightsAreGapsAndAMethodIsAdopted) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 20; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa", [&](std::size_t) { return noisy(1e5); });
        if (i % 5 == 3) {
            NightValue& value = nights.values.values.back();
            value.status = Status::failed;
            value.method = 1;  // nothing was timed: no method
            value.norm_time_ns = std::nan("");
        }
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].nights[3].status, Status::failed);
    EXPECT_EQ(lines[0].timed.size(), 16u);
    EXPECT_EQ(lines[0].left_out, 0);
}

TEST_F(LineOf, ARebootIsNoChangeOfTheSeries) {
    // Sixteen cases; a field that changes with every boot: not one alarm.
    std::vector<std::string> ids;
    for (int i = 0; i < 16; ++i) ids.push_back(fmt::format("gemm/bf16/m={}/etalon/cold", i + 1));
    SimulatedNights nights(ids);
    for (int i = 0; i < 40; ++i) {
        Environment e = SimulatedNights::environment();
        e.extra["boot_id"] = fmt::format("boot-{}", i / 7);
        nights.add(e, "aaaa", [&](std::size_t) { return noisy(1e5); });
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines.size(), 16u);
    for (const Line& line : lines) {
        EXPECT_TRUE(line.points.empty());
        EXPECT_EQ(line.nights.size(), 40u);
        EXPECT_EQ(line.environment.size(), 5u);  // but it is told
    }
}

TEST_F(LineOf, NeverMixesMethodsOrCards) {
    SimulatedNights nights(one_case);
    nights.values.methods = {"events/1", "", "cupti/2"};
    for (int i = 0; i < 20; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa",
                   [&](std::size_t) { return noisy(i < 10 ? 1e5 : 2e5); });
        if (i >= 10) nights.values.values.back().method = 2;
    }
    Environment other = SimulatedNights::environment();
    other.gpu = "NVIDIA B200";
    nights.add(other, "aaaa", [&](std::size_t) { return 5e4; });
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines.size(), 3u);
    for (const Line& line : lines) EXPECT_TRUE(line.points.empty()) << line.gpu << line.method;
    EXPECT_FALSE(lines[0].found.decidable);  // one night of another card
}

TEST_F(LineOf, TwoNightsOfOneTimeStampStandInRunOrder) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 12; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa",
                   [&](std::size_t) { return i < 6 ? 1e5 : 1.2e5; });
        nights.values.runs.back().started_at = "2026-01-01T00:00:00.000Z";
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines[0].points.size(), 1u);
    EXPECT_EQ(lines[0].points[0].run, 6u);
}

TEST_F(LineOf, RepeatsWithinARunAreOneValue) {
    SimulatedNights nights(one_case);
    for (int i = 0; i < 10; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa", [&](std::size_t) { return 1e5; });
        for (int repeat = 0; repeat < 4; ++repeat) {
            NightValue again = nights.values.values.back();
            again.norm_time_ns = repeat == 0 ? 3e5 : 1e5;  // a spike among the repeats
            nights.values.values.push_back(again);
        }
    }
    const auto lines = lines_of(nights.sorted());
    ASSERT_EQ(lines[0].nights.size(), 10u);
    EXPECT_NEAR(lines[0].nights[0].time_ns, 1e5, 500);
    EXPECT_TRUE(lines[0].points.empty());
}

}  // namespace
}  // namespace etalon::history
