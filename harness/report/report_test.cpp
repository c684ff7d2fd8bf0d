#include "harness/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/core/text.h"
#include "harness/gate/simulated_runs.h"
#include "harness/report/changes.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

using gate::many_cases;
using gate::RunSet;
using gate::SimulatedMachine;
using testing::HasSubstr;
using testing::Not;

// Two problems by two providers: we win the first by 2, lose the second by 2.
struct Sample2x2 {
    Run run;
    Environment environment = SimulatedMachine::environment_of({});
    std::vector<MeasurementRow> rows;
    std::vector<RatioRow> ratios;

    Sample2x2() {
        SimulatedMachine machine(51);
        run = {.run_id = "run0001",
               .started_at = "2026-12-01T17:04:05.123Z",
               .suite = "nightly",
               .device = "cuda:0",
               .floor_ns = 1250,
               .quantum_ns = 32};
        run.environment_hash = environment.hash();
        for (const auto& c : many_cases(2, {.provider = "etalon", .time_ns = 20e3})) {
            rows.push_back(machine.row(c, {}, 1));
        }
        for (const auto& c : many_cases(2, {.provider = "cublaslt", .time_ns = 40e3})) {
            rows.push_back(machine.row(c, {}, 1));
        }
        for (MeasurementRow& row : rows) {
            row.m.flop = 1.28e10;
            row.m.bytes_min = 1e6;
            row.m.conditions.power_w = 350;
        }
        const Estimate win{2, 1.9, 2.1}, loss{0.5, 0.4, 0.6};
        ratios.push_back(
            {"run0001", "gemm", "bf16", "m=1", {rows[0].case_id, rows[2].case_id, win}});
        ratios.push_back(
            {"run0001", "gemm", "bf16", "m=2", {rows[1].case_id, rows[3].case_id, loss}});
    }
    [[nodiscard]] Report report() const { return build_report(run, environment, rows, ratios); }
};

TEST(Report, GathersProvidersOfAProblemInOneRow) {
    const Report report = Sample2x2().report();
    ASSERT_EQ(report.tables.size(), 1u);
    const ReportTable& table = report.tables[0];
    EXPECT_EQ(table.op, "gemm");
    EXPECT_EQ(table.baseline, "cublaslt");
    EXPECT_THAT(table.providers, testing::ElementsAre("etalon", "cublaslt"));
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].axes, "m=1");
    EXPECT_EQ(table.rows[0].cells.size(), 2u);
    ASSERT_EQ(report.summaries.size(), 1u);
    EXPECT_DOUBLE_EQ(report.summaries[0].geometric_mean.value, 1);
    EXPECT_EQ(report.summaries[0].wins, 1);
    EXPECT_EQ(report.summaries[0].losses, 1);
    EXPECT_EQ(report.counts.at(Status::ok), 4);
    ASSERT_TRUE(report.conditions.clock_mhz && report.conditions.power_w);
    EXPECT_EQ(report.conditions.power_w->least, 350);
    EXPECT_FALSE(report.conditions.temperature_c);
}

TEST(Report, OneRatioKeepsItsOwnInterval) {
    Sample2x2 data;
    data.ratios.pop_back();
    const Report report = data.report();
    ASSERT_EQ(report.summaries.size(), 1u);
    EXPECT_EQ(report.summaries[0].geometric_mean.lo, 1.9);
    EXPECT_EQ(report.summaries[0].geometric_mean.hi, 2.1);
}

TEST(Report, TheLatestRepeatCounts) {
    Sample2x2 data;
    MeasurementRow again = data.rows[0];
    again.m.status = Status::incorrect;
    again.m.reason = "error 0.3 is over 0.01";
    data.rows.push_back(again);
    const Report report = data.report();
    EXPECT_EQ(report.counts.at(Status::incorrect), 1);
    EXPECT_EQ(report.tables[0].rows[0].cells.size(), 2u);
}

TEST(ReportMarkdown, HasUnitsConditionsAndRatios) {
    Sample2x2 data;
    data.rows[0].m.time_ns = Estimate{20e3, 19.9e3, 20.1e3};
    data.rows[1].m.status = Status::unsupported;
    data.rows[1].m.reason = "k | 8";
    data.rows[1].m.time_ns.reset();
    const std::string text = report_markdown(data.report());
    EXPECT_THAT(text, HasSubstr("20.00 µs, 640.0 TFLOP/s"));
    EXPECT_THAT(text, HasSubstr("2.000 (1.900 to 2.100)"));
    EXPECT_THAT(text, HasSubstr("| unsupported |"));
    EXPECT_THAT(text, HasSubstr("k \\| 8: `gemm/bf16/m=2/etalon/cold`"));
    EXPECT_THAT(text, HasSubstr("| driver | 580.95 |"));
    EXPECT_THAT(text, HasSubstr("floor 1.250 µs, step 32.00 ns"));
    EXPECT_THAT(text, HasSubstr("350.0 W"));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    // Each line of a table has the bars of its head.
    std::size_t bars = 0;
    for (const std::string& line : split(text, '\n')) {
        if (!line.starts_with("| problem") && (bars == 0 || !line.starts_with("|"))) {
            bars = 0;
            continue;
        }
        const auto count = static_cast<std::size_t>(std::count(line.begin(), line.end(), '|'));
        if (bars == 0) bars = count;
        EXPECT_EQ(count, bars) << line;
    }
}

TEST(ReportMarkdown, MemoryBoundCasesAreInBytes) {
    Sample2x2 data;
    for (MeasurementRow& row : data.rows) row.m.flop = 0;
    EXPECT_THAT(report_markdown(data.report()), HasSubstr("GB/s |"));
    EXPECT_THAT(report_markdown(data.report()), Not(HasSubstr("TFLOP/s |")));
}

TEST(ReportMarkdown, OfNothingIsStillAReport) {
    const Report report = build_report({.suite = "quick"}, {}, {}, {});
    EXPECT_THAT(report_markdown(report), HasSubstr("| cases | none |"));
    EXPECT_TRUE(report_json(report)["cases"].empty());
}

void expect_numbers_only(const nlohmann::json& value) {
    EXPECT_TRUE(!value.is_number_float() || std::isfinite(value.get<double>()));
    if (value.is_structured()) {
        for (const auto& item : value) expect_numbers_only(item);
    }
}

TEST(ReportJson, IsVersionedAndHasNoNaN) {
    Sample2x2 data;
    const double inf = std::numeric_limits<double>::infinity();
    data.rows[0].m.time_ns = Estimate{20e3, -inf, inf};
    data.rows[0].m.conditions.power_w = std::nan("");
    data.rows[1].m.clock_mhz = 0;
    const nlohmann::json json = report_json(data.report());
    EXPECT_EQ(json["format"], "etalon.report/1");
    expect_numbers_only(json);
    EXPECT_EQ(nlohmann::json::parse(dump(json)), json);
    EXPECT_EQ(json["cases"].size(), 4u);
    EXPECT_TRUE(json["cases"][0]["time_ns"]["lo"].is_null());
    EXPECT_DOUBLE_EQ(json["cases"][0]["tflops"], 640);
    EXPECT_EQ(json["cases"][0]["baseline_case_id"], data.rows[2].case_id);
    EXPECT_EQ(json["summary"][0]["wins"], 1);
    EXPECT_TRUE(json["changes"].is_null());
}

gate::GateResult slow_night() {
    SimulatedMachine machine(52);
    const auto cases = many_cases(4);
    const RunSet reference = machine.nights(cases, {}, 0, 6);
    RunSet candidate = machine.nights(cases, {.driver = "590.10"}, 50, 1);
    candidate.rows[1] = machine.row(cases[1], {.driver = "590.10"}, 50, 1.05);
    candidate.rows[2] = machine.row(cases[2], {.driver = "590.10"}, 50, 1.2);
    candidate.rows[3].m.status = Status::failed;
    candidate.rows[3].m.reason = "out | of memory";
    candidate.rows[3].m.norm_time_ns.reset();
    gate::GateResult result;
    result.candidate = {.run_id = "run0050",
                        .started_at = "2026-02-23T02:00:00.000Z",
                        .suite = "nightly",
                        .device = "cuda:0"};
    result.references.push_back({.run_id = "run0005", .started_at = "2026-01-06T02:00:00.000Z"});
    result.comparison = gate::compare(reference, candidate, {.reference_is_history = true});
    result.exit = gate::decide(result.comparison, true);
    result.headline = gate::headline(result.comparison, result.exit);
    return result;
}

TEST(Changes, AreOrderedByGravityAndSize) {
    const gate::GateResult result = slow_night();
    const auto groups = by_op(result.comparison);
    ASSERT_EQ(groups.size(), 1u);
    ASSERT_EQ(groups[0].moved.size(), 3u);
    EXPECT_EQ(groups[0].moved[0]->verdict, gate::Verdict::failed);
    EXPECT_NEAR(groups[0].moved[1]->ratio->value, 1.2, 0.01);
    EXPECT_NEAR(groups[0].moved[2]->ratio->value, 1.05, 0.01);
    EXPECT_EQ(groups[0].compared, 3);
    EXPECT_NEAR(groups[0].geometric_mean->value, std::cbrt(1.05 * 1.2), 0.01);
}

TEST(Changes, TellTheSameInEachForm) {
    const gate::GateResult result = slow_night();
    EXPECT_EQ(result.exit, ExitCode::regression);
    const std::string text = gate_text(result), markdown = gate_markdown(result);
    EXPECT_THAT(text, HasSubstr("regression: 2 slower, 1 failed, 1 same"));
    EXPECT_THAT(text, HasSubstr("environment: driver 580.95 -> 590.10"));
    EXPECT_THAT(markdown, HasSubstr("`driver` 580.95 → 590.10"));
    EXPECT_THAT(markdown, HasSubstr("| failed | - | `gemm/bf16/m=4/etalon/cold` | - | - | - | "
                                    "out \\| of memory |"));
    const nlohmann::json json = gate_json(result);
    EXPECT_EQ(json["format"], "etalon.gate/1");
    EXPECT_EQ(json["exit"], 1);
    EXPECT_EQ(json["counts"]["slower"], 2);
    EXPECT_EQ(json["environment"][0]["field"], "driver");
    expect_numbers_only(json);
    EXPECT_TRUE(json["changes"][3]["ratio"].is_null());
    EXPECT_THAT(changes_text(result.comparison, 1), HasSubstr("and 2 more"));
}

}  // namespace
}  // namespace etalon::report
