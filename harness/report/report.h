// One run as a person reads it: its conditions, each op against its baseline, what could not be
// measured, and what changed since the runs before.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/gate/gate.h"

namespace etalon::report {

struct Range {
    double least = 0, greatest = 0;
};

// What the machine did while the run was made; empty where it could not tell.
struct RunConditions {
    std::optional<Range> clock_mhz, power_w, temperature_c;
};

// One provider's measurement of one problem. `provider` is provider[+variant].
struct ReportCell {
    std::string case_id, provider;
    Status status = Status::ok;
    std::string reason;
    std::optional<Estimate> time_ns;  // raw median: what a caller would see
    std::optional<Estimate> norm_time_ns;
    std::optional<Estimate> elasticity;
    double clock_mhz = 0, flop = 0, bytes_min = 0;
    std::optional<Ratio> ratio;  // against the baseline, measured in the same run
};

struct ReportRow {
    std::string axes;
    L2Mode l2 = L2Mode::cold;
    std::vector<ReportCell> cells;
};

struct ReportTable {
    std::string op, precision, baseline;  // baseline: empty where no ratio is known
    std::vector<std::string> providers;   // the baseline last
    std::vector<ReportRow> rows;          // in the order of measuring
};

// All ratios of one provider in one table. A win is a ratio whose whole interval is over 1.
struct RatioSummary {
    std::string op, precision, provider, baseline;
    int cases = 0, wins = 0, losses = 0;
    Estimate geometric_mean;
};

struct Report {
    Run run;
    Environment environment;
    RunConditions conditions;
    std::map<Status, int> counts;
    std::vector<RatioSummary> summaries;
    std::vector<ReportTable> tables;
    std::optional<gate::GateResult> changes;  // against the earlier runs, where there are any
};

// From values; of repeats the latest counts.
[[nodiscard]] Report build_report(const Run& run, const Environment& environment,
                                  const std::vector<MeasurementRow>& rows,
                                  const std::vector<RatioRow>& ratios);
// From the store: the run with this id or unique prefix, else the latest finished one, else the
// latest. A usage Error where there is none.
[[nodiscard]] Report load_run_report(const Store& store, const std::optional<std::string>& run);
// The same, with what changed.
[[nodiscard]] Report load_report(const Store& store, const std::optional<std::string>& run);

[[nodiscard]] std::string report_markdown(const Report& report);
[[nodiscard]] nlohmann::json report_json(const Report& report);  // etalon.report/1
// RFC 4180, one row a case, empty where unknown. Texts that a spreadsheet would take for a formula
// are led by an apostrophe.
[[nodiscard]] std::string report_csv(const Report& report);
[[nodiscard]] std::string report_junit(const Report& report);

}  // namespace etalon::report
