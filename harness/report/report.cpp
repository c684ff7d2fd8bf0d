#include "harness/report/report.h"

#include <algorithm>
#include <cmath>

#include "harness/gate/load.h"
#include "harness/stats/stats.h"

namespace etalon::report {
namespace {

void widen(std::optional<Range>& range, double value) {
    if (!std::isfinite(value)) return;
    if (!range) range = Range{value, value};
    range->least = std::min(range->least, value);
    range->greatest = std::max(range->greatest, value);
}

RunConditions conditions_of(const std::vector<const MeasurementRow*>& rows) {
    RunConditions conditions;
    for (const MeasurementRow* row : rows) {
        const Measurement& m = row->m;
        if (m.status == Status::ok && m.clock_mhz > 0) widen(conditions.clock_mhz, m.clock_mhz);
        if (m.conditions.power_w) widen(conditions.power_w, *m.conditions.power_w);
        if (m.conditions.temperature_c)
            widen(conditions.temperature_c, *m.conditions.temperature_c);
    }
    return conditions;
}

// The latest repeat of each case, where the first one stood.
std::vector<const MeasurementRow*> latest_of_each(const std::vector<MeasurementRow>& rows) {
    std::vector<const MeasurementRow*> latest;
    std::map<std::string, std::size_t> place;
    for (const MeasurementRow& row : rows) {
        const auto [at, fresh] = place.try_emplace(row.case_id, latest.size());
        if (fresh) {
            latest.push_back(&row);
        } else {
            latest[at->second] = &row;
        }
    }
    return latest;
}

ReportCell cell_of(const MeasurementRow& row, const std::map<std::string, Ratio>& ratios) {
    const Measurement& m = row.m;
    ReportCell cell{row.case_id,  provider_text(m.key.provider, m.key.variant),
                    m.status,     m.reason,
                    m.time_ns,    m.norm_time_ns,
                    m.elasticity, m.clock_mhz,
                    m.flop,       m.bytes_min,
                    std::nullopt};
    const auto ratio = ratios.find(row.case_id);
    if (ratio != ratios.end()) cell.ratio = ratio->second;
    return cell;
}

ReportTable& table_for(std::vector<ReportTable>& tables, const Problem& problem) {
    const std::string precision(name(problem.precision));
    for (ReportTable& table : tables) {
        if (table.op == problem.op && table.precision == precision) return table;
    }
    tables.push_back({problem.op, precision, {}, {}, {}});
    return tables.back();
}

ReportRow& row_for(ReportTable& table, const std::string& axes, L2Mode l2) {
    for (ReportRow& row : table.rows) {
        if (row.axes == axes && row.l2 == l2) return row;
    }
    table.rows.push_back({axes, l2, {}});
    return table.rows.back();
}

// Baseline of each op and precision, and its place behind the others.
void name_baselines(std::vector<ReportTable>& tables, const std::map<std::string, Ratio>& ratios) {
    for (ReportTable& table : tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) {
                if (std::find(table.providers.begin(), table.providers.end(), cell.provider) ==
                    table.providers.end()) {
                    table.providers.push_back(cell.provider);
                }
                if (const auto ratio = ratios.find(cell.case_id); ratio != ratios.end()) {
                    const CaseIdParts base = split_case_id(ratio->second.baseline_case_id);
                    table.baseline = provider_text(base.provider, base.variant);
                }
            }
        }
        std::stable_partition(
            table.providers.begin(), table.providers.end(),
            [&](const std::string& provider) { return provider != table.baseline; });
    }
}

std::vector<RatioSummary> summaries_of(const std::vector<ReportTable>& tables) {
    std::vector<RatioSummary> all;
    for (const ReportTable& table : tables) {
        for (const std::string& provider : table.providers) {
            RatioSummary summary{table.op, table.precision, provider, table.baseline};
            std::vector<double> ratios;
            for (const ReportRow& row : table.rows) {
                for (const ReportCell& cell : row.cells) {
                    if (cell.provider != provider || !cell.ratio) continue;
                    const Estimate& ratio = cell.ratio->ratio;
                    if (!std::isfinite(ratio.value) || ratio.value <= 0) continue;
                    ratios.push_back(ratio.value);
                    summary.geometric_mean = ratio;  // of a single case, its own interval stands
                    summary.wins += ratio.lo > 1;
                    summary.losses += ratio.hi < 1;
                }
            }
            if (ratios.empty()) continue;
            summary.cases = static_cast<int>(ratios.size());
            if (ratios.size() > 1) summary.geometric_mean = stats::geometric_mean(ratios);
            all.push_back(std::move(summary));
        }
    }
    return all;
}

// Half a run is worth a look, though not a verdict: where none is finished, the latest one.
Run run_to_report(const Store& store, const std::optional<std::string>& run) {
    if (!run && store.runs({.finished_only = true}).empty()) {
        const std::vector<Run> all = store.runs();
        if (!all.empty()) return all.back();
    }
    return gate::choose_run(store, run);
}

}  // namespace

Report build_report(const Run& run, const Environment& environment,
                    const std::vector<MeasurementRow>& rows, const std::vector<RatioRow>& ratios) {
    std::map<std::string, Ratio> ratio_of_case;
    for (const RatioRow& row : ratios) ratio_of_case[row.ratio.case_id] = row.ratio;
    const std::vector<const MeasurementRow*> latest = latest_of_each(rows);

    Report report{run, environment, conditions_of(latest), {}, {}, {}, {}};
    for (const MeasurementRow* row : latest) {
        ++report.counts[row->m.status];
        ReportTable& table = table_for(report.tables, row->m.key.problem);
        ReportRow& line = row_for(table, row->m.key.problem.axes.text(), row->m.key.l2);
        line.cells.push_back(cell_of(*row, ratio_of_case));
    }
    name_baselines(report.tables, ratio_of_case);
    report.summaries = summaries_of(report.tables);
    return report;
}

Report load_run_report(const Store& store, const std::optional<std::string>& run) {
    const Run chosen = run_to_report(store, run);
    return build_report(chosen, store.environment(chosen.environment_hash),
                        store.measurements(chosen.run_id), store.ratios(chosen.run_id));
}

Report load_report(const Store& store, const std::optional<std::string>& run) {
    Report report = load_run_report(store, run);
    gate::GateOptions options;
    options.run = report.run.run_id;
    gate::GateResult changes = gate::gate(store, options);
    if (!changes.references.empty()) report.changes = std::move(changes);
    return report;
}

}  // namespace etalon::report
