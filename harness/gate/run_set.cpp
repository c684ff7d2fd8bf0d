#include "harness/gate/run_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/stats/stats.h"

namespace etalon::gate {
namespace {

constexpr double normal_975 = 1.959963984540054;

bool before(const MeasurementRow* a, const MeasurementRow* b) {
    return std::tie(a->started_at, a->run_id) < std::tie(b->started_at, b->run_id);
}

std::vector<const MeasurementRow*> in_order(const RunSet& set) {
    std::vector<const MeasurementRow*> rows;
    rows.reserve(set.rows.size());
    for (const MeasurementRow& row : set.rows) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), before);
    return rows;
}

bool positive(double value) {
    return std::isfinite(value) && value > 0;
}

// Standard error of the log of the median that a 95 % interval implies.
double standard_error(const Estimate& time) {
    if (!positive(time.lo) || !positive(time.hi) || time.hi < time.lo) return 0;
    return std::log(time.hi / time.lo) / (2 * normal_975);
}

// Median and its bootstrap error; the samples' logs are exponentiated about the first, so that a
// ratio to 1 is what is resampled.
RunValue of_log_samples(std::vector<double> logs) {
    const double origin = logs.front();
    for (double& value : logs) value = std::exp(value - origin);
    constexpr int resamples = 200;
    constexpr double one_sigma = 0.6826894921370859;
    const double one[] = {1.0};
    const Estimate ratio = stats::ratio_of_medians(logs, one, 1, resamples, one_sigma);
    return {origin + std::log(ratio.value), std::log(ratio.hi / ratio.lo) / 2};
}

RunValue stored(const MeasurementRow& row) {
    const Estimate& time = *row.m.norm_time_ns;
    return {std::log(time.value), standard_error(time)};
}

RunValue row_at(const MeasurementRow& row, double e, double own_reference_mhz,
                double reference_mhz) {
    std::vector<double> logs;
    for (const Sample& sample : row.m.samples) {
        if (!positive(sample.clock_mhz) || !positive(sample.duration_ns)) continue;
        logs.push_back(std::log(sample.duration_ns) +
                       e * std::log(sample.clock_mhz / reference_mhz));
    }
    if (!logs.empty()) return of_log_samples(std::move(logs));
    if (!row.m.samples.empty() && row.m.clock_mhz <= 0) {
        for (const Sample& sample : row.m.samples) {
            if (positive(sample.duration_ns)) logs.push_back(std::log(sample.duration_ns));
        }
        if (!logs.empty()) return of_log_samples(std::move(logs));
    }
    RunValue value = stored(row);
    if (row.m.elasticity && positive(row.m.clock_mhz) && positive(own_reference_mhz)) {
        // The stored time took its own elasticity to its own reference clock; the part of its error
        // that came from that elasticity goes, for the comparison carries the one of `e`.
        const double own_distance = std::log(row.m.clock_mhz / own_reference_mhz);
        const double own_sigma =
            (row.m.elasticity->hi - row.m.elasticity->lo) / (2 * normal_975) * own_distance;
        value.log_time +=
            e * std::log(row.m.clock_mhz / reference_mhz) - row.m.elasticity->value * own_distance;
        value.standard_error = std::sqrt(
            std::max(0.0, value.standard_error * value.standard_error - own_sigma * own_sigma));
    }
    return value;
}

RunValue joined(const std::vector<RunValue>& values) {
    std::vector<double> logs;
    double squares = 0;
    for (const RunValue& value : values) {
        logs.push_back(value.log_time);
        squares += value.standard_error * value.standard_error;
    }
    return {stats::median(logs), std::sqrt(squares) / static_cast<double>(values.size())};
}

std::string reason_of(const MeasurementRow& row) {
    return row.m.reason.empty() ? "?" : row.m.reason;
}

}  // namespace

std::vector<Environment> RunSet::environments_used() const {
    std::vector<Environment> used;
    std::set<std::string> seen;
    for (const MeasurementRow* row : in_order(*this)) {
        if (!seen.insert(row->environment_hash).second) continue;
        const auto found = environments.find(row->environment_hash);
        if (found != environments.end()) used.push_back(found->second);
    }
    return used;
}

std::string RunSet::latest_run() const {
    const MeasurementRow* latest = nullptr;
    for (const MeasurementRow& row : rows) {
        if (latest == nullptr || before(latest, &row)) latest = &row;
    }
    return latest == nullptr ? std::string() : latest->run_id;
}

double RunPoint::clock_mhz() const {
    std::vector<double> clocks;
    for (const MeasurementRow* row : rows) {
        if (positive(row->m.clock_mhz)) clocks.push_back(row->m.clock_mhz);
    }
    return clocks.empty() ? 0 : stats::median(clocks);
}

double RunPoint::time_ns() const {
    return std::exp(as_stored().log_time);
}

int RunPoint::samples() const {
    return std::accumulate(rows.begin(), rows.end(), 0, [](int sum, const MeasurementRow* row) {
        return sum + row->sample_count;
    });
}

RunValue RunPoint::at(double e, double reference_mhz) const {
    std::vector<RunValue> values;
    for (const MeasurementRow* row : rows) {
        values.push_back(row_at(*row, e, reference_clock_mhz, reference_mhz));
    }
    return joined(values);
}

RunValue RunPoint::as_stored() const {
    std::vector<RunValue> values;
    for (const MeasurementRow* row : rows) values.push_back(stored(*row));
    return joined(values);
}

std::map<std::string, CaseRuns> by_case(const RunSet& set) {
    std::map<std::string, CaseRuns> cases;
    const std::string latest = set.latest_run();
    for (const MeasurementRow* row : in_order(set)) {
        CaseRuns& runs = cases[row->case_id];
        runs.key = row->m.key;
        runs.in_latest_run = runs.in_latest_run || row->run_id == latest;
        switch (row->m.status) {
            case Status::incorrect:
                runs.incorrect = reason_of(*row);
                continue;
            case Status::failed:
                runs.failed = reason_of(*row);
                continue;
            case Status::unsupported:
                runs.unsupported = reason_of(*row);
                continue;
            case Status::ok:
                break;
        }
        if (!row->m.norm_time_ns || !positive(row->m.norm_time_ns->value)) {
            ++runs.left_out;
            continue;
        }
        if (runs.points.empty() || runs.points.back().run_id != row->run_id ||
            runs.points.back().method != row->m.method) {
            const auto environment = set.environments.find(row->environment_hash);
            runs.points.push_back({row->run_id,
                                   row->started_at,
                                   row->environment_hash,
                                   row->m.method,
                                   {},
                                   environment == set.environments.end()
                                       ? 0
                                       : environment->second.reference_clock_mhz});
        }
        runs.points.back().rows.push_back(row);
    }
    return cases;
}

}  // namespace etalon::gate
