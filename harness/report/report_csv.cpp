// The report as CSV: one row a case.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "harness/core/text.h"
#include "harness/report/report.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

std::string figure(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

void add_estimate(std::vector<std::string>& row, const std::optional<Estimate>& estimate) {
    row.push_back(estimate ? figure(estimate->value) : "");
    row.push_back(estimate ? figure(estimate->lo) : "");
    row.push_back(estimate ? figure(estimate->hi) : "");
}

}  // namespace

std::string report_csv(const Report& report) {
    std::map<std::string, const gate::Change*> changes;
    if (report.changes) {
        for (const gate::Change& change : report.changes->comparison.changes) {
            changes[change.case_id] = &change;
        }
    }
    std::string text =
        "run_id,case_id,op,precision,axes,provider,l2,status,reason,time_ns,time_lo_ns,time_hi_ns,"
        "norm_time_ns,norm_lo_ns,norm_hi_ns,ratio,ratio_lo,ratio_hi,baseline_case_id,elasticity,"
        "elasticity_lo,elasticity_hi,clock_mhz,flop,bytes_min,verdict,change,change_lo,change_hi\n";
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& c : row.cells) {
                std::vector<std::string> fields = {
                    csv_field(report.run.run_id), csv_field(c.case_id),
                    csv_field(table.op),          csv_field(table.precision),
                    csv_field(row.axes),          csv_field(c.provider),
                    std::string(name(row.l2)),    std::string(name(c.status)),
                    csv_field(c.reason)};
                add_estimate(fields, c.time_ns);
                add_estimate(fields, c.norm_time_ns);
                add_estimate(fields, c.ratio ? std::optional(c.ratio->ratio) : std::nullopt);
                fields.push_back(c.ratio ? csv_field(c.ratio->baseline_case_id) : "");
                add_estimate(fields, c.elasticity);
                for (const double value : {c.clock_mhz, c.flop, c.bytes_min}) {
                    fields.push_back(value > 0 ? figure(value) : "");
                }
                const auto found = changes.find(c.case_id);
                const gate::Change* change = found == changes.end() ? nullptr : found->second;
                fields.emplace_back(change != nullptr ? name(change->verdict) : "");
                add_estimate(fields, change != nullptr ? change->ratio : std::nullopt);
                text += join(fields, ",") + "\n";
            }
        }
    }
    return text;
}

}  // namespace etalon::report
