#include "harness/report/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

// A bar of up to ten blocks, from 1 outwards: a factor of two is full.
std::string bar(double ratio) {
    const double share = std::min(1.0, std::fabs(std::log2(ratio)));
    std::string out;
    for (int i = 0; i < static_cast<int>(std::lround(10 * share)); ++i) out += "█";
    return out;
}

}  // namespace

std::vector<TopRow> top_rows(const Report& report, const TopOptions& options) {
    std::vector<TopRow> rows;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) {
                if (!cell.ratio || !(cell.ratio->ratio.value > 0)) continue;
                if (!options.pattern.empty() && !glob_match(options.pattern, cell.case_id)) {
                    continue;
                }
                rows.push_back(
                    {cell.case_id, cell.ratio->baseline_case_id, cell.ratio->ratio, cell.time_ns});
            }
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
        return options.best ? a.ratio.value > b.ratio.value : a.ratio.value < b.ratio.value;
    });
    if (options.most > 0 && rows.size() > options.most) rows.resize(options.most);
    return rows;
}

std::string top_text(const Report& report, const std::vector<TopRow>& rows) {
    std::string out =
        fmt::format("{}, run {} of {}; ratio: baseline time / own time\n", report.environment.gpu,
                    report.run.run_id, minute(report.run.started_at));
    std::size_t width = 4;
    for (const TopRow& row : rows) width = std::max(width, row.case_id.size());
    for (const TopRow& row : rows) {
        const CaseIdParts base = split_case_id(row.baseline_case_id);
        out += fmt::format("{:<24} {:>9}  {:<{}}  {:<12} {}\n", ratio_text(row.ratio),
                           row.time_ns ? time_text(row.time_ns->value) : "-", row.case_id, width,
                           provider_text(base.provider, base.variant), bar(row.ratio.value));
    }
    return out;
}

nlohmann::json top_json(const Report& report, const std::vector<TopRow>& rows) {
    nlohmann::json all = nlohmann::json::array();
    for (const TopRow& row : rows) {
        all.push_back({{"case_id", row.case_id},
                       {"baseline_case_id", row.baseline_case_id},
                       {"ratio", interval(row.ratio)},
                       {"time_ns", interval(row.time_ns)}});
    }
    return {{"format", "etalon.top/1"}, {"run_id", report.run.run_id}, {"cases", all}};
}

}  // namespace etalon::report
