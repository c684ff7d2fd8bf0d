#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/history/simulated_nights.h"
#include "harness/report/history.h"

namespace etalon::report {
namespace {

using history::clusters_of;
using history::lines_of;
using history::SimulatedNights;
using testing::HasSubstr;
using testing::Not;

// Five nights, then a driver that makes both cases take twice as long; the second night of the
// first case failed.
SimulatedNights eight_nights() {
    SimulatedNights nights({"gemm/bf16/m=1/etalon/cold", "gemm/bf16/m=2/etalon/cold"});
    for (int i = 0; i < 8; ++i) {
        nights.add(SimulatedNights::environment(i < 5 ? "580.95" : "590.10"), "aaaa",
                   [&](std::size_t) { return i < 5 ? 100e3 : 200e3; });
        if (i != 1) continue;
        NightValue& failed = nights.values.values[nights.values.values.size() - 2];
        failed.status = Status::failed;
        failed.norm_time_ns = std::nan("");
        failed.method = 1;  // none: nothing was timed
    }
    return nights;
}

TEST(History, IsOneLineACaseWithItsChanges) {
    SimulatedNights nights = eight_nights();
    const NightValues& values = nights.sorted();
    const auto lines = lines_of(values);
    const std::string text = history_text(lines, values, 0);
    EXPECT_THAT(text, HasSubstr("gemm/bf16/m=1/etalon/cold  ▁·▁▁▁███  last 200.0 µs"));
    EXPECT_THAT(text, HasSubstr("2026-01-06 02:00  driver 580.95 -> 590.10\n"));
    EXPECT_THAT(text, HasSubstr("2026-01-06 02:00  slower +100.0 % ("));
    EXPECT_THAT(text, HasSubstr("100.0 µs -> 200.0 µs; driver 580.95 -> 590.10\n"));
    const nlohmann::json json = history_json(lines, values, 0);
    EXPECT_EQ(json["format"], "etalon.history/1");
    const nlohmann::json& one = json["cases"][0];
    EXPECT_TRUE(one["points"][1]["norm_time_ns"].is_null());
    EXPECT_EQ(one["points"].size(), 8u);
    ASSERT_EQ(one["changes"].size(), 1u);
    EXPECT_EQ(one["changes"][0]["run_id"], "run0005");
    EXPECT_EQ(one["changes"][0]["causes"][0]["field"], "driver");
    EXPECT_EQ(one["environment"][0]["run_id"], "run0005");
    EXPECT_EQ(json.dump().find("nan"), std::string::npos);
    // The latest three only, and no change before them.
    const std::string latest = history_text(lines, values, 3);
    EXPECT_THAT(latest, HasSubstr("3 runs"));
    EXPECT_THAT(latest, Not(HasSubstr("driver")));
}

TEST(History, NamesCardAndMethodWhereACaseHasSeveral) {
    SimulatedNights nights({"gemm/bf16/m=1/etalon/cold"});
    nights.values.methods = {"events/1", "", "cupti/2"};
    for (int i = 0; i < 4; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa", [](std::size_t) { return 1e5; });
        if (i > 1) nights.values.values.back().method = 2;
    }
    const NightValues& values = nights.sorted();
    EXPECT_THAT(history_text(lines_of(values), values, 0), HasSubstr("[NVIDIA H200, cupti/2]"));
}

TEST(History, SaysWhatItCannotDecide) {
    SimulatedNights nights({"gemm/bf16/m=1/etalon/cold"});
    const double times[] = {100e3, 100e3, 150e3};
    for (const double time : times) {
        nights.add(SimulatedNights::environment(), "aaaa", [&](std::size_t) { return time; });
    }
    const NightValues& values = nights.sorted();
    const auto lines = lines_of(values);
    EXPECT_THAT(history_text(lines, values, 0), HasSubstr("3 of at least 5 nights: too few"));
    EXPECT_EQ(history_json(lines, values, 0)["cases"][0]["decidable"], false);
    EXPECT_THAT(findings_text(lines, clusters_of(lines), values), HasSubstr("1 have under 5"));
}

TEST(History, TellsOfACandidateAndOfTimesLeftOut) {
    SimulatedNights nights({"gemm/bf16/m=1/etalon/cold"});
    for (int i = 0; i < 40; ++i) {
        nights.add(SimulatedNights::environment(), "aaaa",
                   [&](std::size_t) { return i == 39 ? 101e3 : 100e3; });
    }
    nights.values.values[7].norm_time_ns = -1;
    const NightValues& values = nights.sorted();
    const auto lines = lines_of(values);
    const std::string text = history_text(lines, values, 0);
    EXPECT_THAT(text, HasSubstr("stands apart by +1.00 %: the next night"));
    EXPECT_THAT(text, HasSubstr("left out: 1 stored time"));
    EXPECT_THAT(text, Not(HasSubstr("slower")));
    EXPECT_EQ(history_json(lines, values, 0)["cases"][0]["candidate"], true);
}

TEST(Findings, AreClustersWithTheirCauses) {
    SimulatedNights nights = eight_nights();
    const NightValues& values = nights.sorted();
    const auto lines = lines_of(values);
    const auto clusters = clusters_of(lines);
    const std::string text = findings_text(lines, clusters, values);
    EXPECT_THAT(text, HasSubstr("2026-01-06 02:00  slower +100.0 %"));
    EXPECT_THAT(text, HasSubstr("2 of 2 cases\n    driver 580.95 -> 590.10\n"));
    EXPECT_THAT(text, HasSubstr("2 histories over 8 runs: 1 findings, 0 drifts"));
    const nlohmann::json json = findings_json(lines, clusters, values);
    EXPECT_EQ(json["format"], "etalon.findings/1");
    EXPECT_EQ(json["findings"][0]["moved"], 2);
    EXPECT_EQ(json["findings"][0]["members"].size(), 2u);
}

}  // namespace
}  // namespace etalon::report
