// The report as Markdown.
#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/report/changes.h"
#include "harness/report/report.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

// FLOP a byte from which a case is called by its arithmetic: near the ridge of the machine (H200,
// bf16: 790 TFLOP/s over 4.3 TB/s is 185; a CPU core: around 10). Under it, bytes are the measure.
double ridge(const Environment& environment) {
    return environment.device_kind == "host" ? 10 : 100;
}

std::string range_text(const std::optional<Range>& range, std::string_view unit) {
    if (!range) return "unknown";
    if (range->least == range->greatest) {
        return fmt::format("{} {}", significant(range->least), unit);
    }
    return fmt::format("{} to {} {}", significant(range->least), significant(range->greatest),
                       unit);
}

void field(std::string& text, std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("| {} | {} |\n", cell(label), cell(value));
}

std::string header(const Report& report) {
    const Environment& e = report.environment;
    const Run& run = report.run;
    std::string text = fmt::format("# etalon report: {} on {}\n\n", cell(run.suite), cell(e.gpu));
    text += "| condition | |\n|---|---|\n";
    text += fmt::format("| run | {}, {}, {} |\n", code(run.run_id), cell(run.started_at),
                        name(run.state));
    field(text, "tag", run.tag);
    field(text, "device",
          fmt::format("{}, {} {}, {}", run.device, e.sm_count,
                      e.device_kind == "host" ? "cores" : "SMs",
                      human_bytes(static_cast<double>(e.memory_bytes))));
    field(text, "driver", e.driver);
    field(text, "CUDA runtime", e.cuda_runtime);
    field(text, "cuBLAS", e.cublas);
    field(text, "cuDNN", e.cudnn);
    for (const auto& [key, value] : e.extra) field(text, key, value);
    field(text, "OS", e.os);
    field(text, "etalon",
          fmt::format("{} ({}), method {}", e.etalon_version, run.revision, e.method));
    field(text, "clock in the timed intervals", range_text(report.conditions.clock_mhz, "MHz"));
    if (e.reference_clock_mhz > 0) {
        field(text, "reference clock", fmt::format("{} MHz", significant(e.reference_clock_mhz)));
    }
    if (report.conditions.power_w) field(text, "power", range_text(report.conditions.power_w, "W"));
    if (e.power_limit_w > 0) {
        field(text, "power limit", fmt::format("{} W", significant(e.power_limit_w)));
    }
    if (report.conditions.temperature_c) {
        field(text, "temperature", range_text(report.conditions.temperature_c, "°C"));
    }
    field(text, "timer",
          fmt::format("floor {}, step {}", time_text(run.floor_ns), time_text(run.quantum_ns)));
    std::vector<std::string> counts;
    for (const auto& [status, count] : report.counts) {
        counts.push_back(fmt::format("{} {}", count, name(status)));
    }
    field(text, "cases", counts.empty() ? "none" : join(counts, ", "));
    return text + '\n';
}

std::string summary(const std::vector<RatioSummary>& summaries) {
    if (summaries.empty()) return {};
    std::string text =
        "## Against the baseline\n\nRatio: baseline time / provider's time, over 1 is a win. 95 % "
        "intervals; a win or a loss is a case whose whole interval is on one side of 1.\n\n"
        "| op | precision | provider | baseline | cases | geometric mean | wins | losses |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const RatioSummary& s : summaries) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", cell(s.op), s.precision,
                            cell(s.provider), cell(s.baseline), s.cases,
                            ratio_text(s.geometric_mean), s.wins, s.losses);
    }
    return text + '\n';
}

std::string measured(const ReportCell& c, double compute_bound_from) {
    if (c.status != Status::ok || !c.time_ns) return std::string(name(c.status));
    const bool by_flop = c.bytes_min <= 0 || c.flop / c.bytes_min >= compute_bound_from;
    const std::string rate =
        by_flop ? tflops_text(c.flop, c.time_ns->value) : gbs_text(c.bytes_min, c.time_ns->value);
    std::string text = time_text(c.time_ns->value);
    if (rate != "-") text += ", " + rate;
    return text;
}

std::string table_text(const ReportTable& table, double compute_bound_from) {
    std::string text =
        fmt::format("### {} {}\n\n| problem | L2 |", cell(table.op), table.precision);
    std::string rule = "|---|---|";
    std::vector<std::string> with_ratio;
    for (const std::string& provider : table.providers) {
        text += fmt::format(" {} |", cell(provider));
        rule += "---|";
        const bool any = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
            return std::any_of(row.cells.begin(), row.cells.end(), [&](const ReportCell& c) {
                return c.provider == provider && c.ratio;
            });
        });
        if (any) with_ratio.push_back(provider);
    }
    for (const std::string& provider : with_ratio) {
        text += with_ratio.size() == 1
                    ? fmt::format(" ratio to {} |", cell(table.baseline))
                    : fmt::format(" {} to {} |", cell(provider), cell(table.baseline));
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const ReportRow& row : table.rows) {
        text += fmt::format("| {} | {} |", cell(row.axes), name(row.l2));
        const auto find = [&](const std::string& provider) {
            return std::find_if(row.cells.begin(), row.cells.end(),
                                [&](const ReportCell& c) { return c.provider == provider; });
        };
        for (const std::string& provider : table.providers) {
            const auto found = find(provider);
            text += fmt::format(
                " {} |", found == row.cells.end() ? "-" : measured(*found, compute_bound_from));
        }
        for (const std::string& provider : with_ratio) {
            const auto found = find(provider);
            const bool known = found != row.cells.end() && found->ratio;
            text += fmt::format(" {} |", known ? ratio_text(found->ratio->ratio) : "-");
        }
        text += '\n';
    }
    return text + '\n';
}

// Cases of one status; the same reason is told once.
std::string problems(const Report& report, Status status, std::string_view title) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& c : row.cells) {
                if (c.status == status) by_reason[c.reason].push_back(c.case_id);
            }
        }
    }
    if (by_reason.empty()) return {};
    std::string text = fmt::format("## {}\n\n", title);
    for (const auto& [reason, ids] : by_reason) {
        constexpr std::size_t most = 8;
        text += fmt::format("- {}: ", reason.empty() ? "no reason given" : cell(reason));
        for (std::size_t i = 0; i < std::min(most, ids.size()); ++i) {
            text += fmt::format("{}{}", i == 0 ? "" : ", ", code(ids[i], false));
        }
        if (ids.size() > most) text += fmt::format(" and {} more", ids.size() - most);
        text += '\n';
    }
    return text + '\n';
}

}  // namespace

std::string report_markdown(const Report& report) {
    std::string text = header(report);
    text += summary(report.summaries);
    text += problems(report, Status::incorrect, "Incorrect");
    text += problems(report, Status::failed, "Failed");
    if (report.changes) {
        text += fmt::format("## What changed\n\n{} (against {} earlier {})\n\n{}",
                            cell(report.changes->headline), report.changes->references.size(),
                            report.changes->references.size() == 1 ? "run" : "runs",
                            changes_markdown(report.changes->comparison));
    }
    if (!report.tables.empty()) {
        text +=
            "## Times\n\nMedian of the raw times, as the clock was; GB/s of the least bytes a "
            "problem must move.\n\n";
    }
    for (const ReportTable& table : report.tables) {
        text += table_text(table, ridge(report.environment));
    }
    text += problems(report, Status::unsupported, "Unsupported");
    return text;
}

}  // namespace etalon::report
