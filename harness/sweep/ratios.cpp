#include "harness/sweep/ratios.h"

#include <map>
#include <set>
#include <vector>

#include "harness/stats/stats.h"

namespace etalon {
void add_ratios(const Registry& registry, DeviceKind kind, Store& store,
                const std::string& run_id) {
    const double reference_clock_mhz =
        store.environment(store.run(run_id).environment_hash).reference_clock_mhz;
    std::set<std::string> done;
    for (const RatioRow& row : store.ratios(run_id)) done.insert(row.ratio.case_id);

    const std::vector<MeasurementRow> rows = store.measurements(run_id);
    std::map<std::string, const MeasurementRow*> baselines;
    const auto baseline_id = [&](const MeasurementRow& row) {
        return registry.baseline(row.m.key, kind).id();
    };
    for (const MeasurementRow& row : rows) {
        if (row.m.status == Status::ok && row.case_id == baseline_id(row)) {
            baselines[row.case_id] = &row;
        }
    }
    for (const MeasurementRow& row : rows) {
        const std::string base = baseline_id(row);
        const auto found = baselines.find(base);
        const bool wanted = row.m.status == Status::ok && row.case_id != base &&
                            found != baselines.end() && !done.contains(row.case_id);
        if (!wanted) continue;
        const std::vector<double> theirs = stats::normalised_durations(
            store.samples(run_id, base), found->second->m, reference_clock_mhz);
        const std::vector<double> ours = stats::normalised_durations(
            store.samples(run_id, row.case_id), row.m, reference_clock_mhz);
        store.add(run_id, Ratio{row.case_id, base, stats::ratio_of_medians(theirs, ours, 1)});
    }
}

}  // namespace etalon
