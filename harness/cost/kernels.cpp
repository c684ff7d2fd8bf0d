#include "harness/cost/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {
namespace {

const std::string& value_of(const std::string& key, const Run& run, const Environment& e) {
    if (key == "driver") return e.driver;
    if (key == "cudnn") return e.cudnn;
    if (key == "cublas") return e.cublas;
    if (key == "cuda_runtime") return e.cuda_runtime;
    if (key == "build") return run.revision;
    if (key == "tag") return run.tag;
    return e.gpu;
}

// Repeats of one case: the mean weighted by samples; errors of repeats are independent.
Estimate combine(std::vector<std::pair<Estimate, int>>& repeats) {
    // In one order, so that a sum does not depend on that of the rows.
    std::sort(repeats.begin(), repeats.end(), [](const auto& a, const auto& b) {
        return std::tie(a.first.value, a.first.lo, a.first.hi, a.second) <
               std::tie(b.first.value, b.first.lo, b.first.hi, b.second);
    });
    double weight = 0, value = 0, below = 0, above = 0;
    for (const auto& [time, samples] : repeats) {
        const double w = std::max(1, samples);
        weight += w;
        value += w * time.value;
        below += w * w * (time.value - time.lo) * (time.value - time.lo);
        above += w * w * (time.hi - time.value) * (time.hi - time.value);
    }
    value /= weight;
    return {value, value - std::sqrt(below) / weight, value + std::sqrt(above) / weight};
}

}  // namespace

std::string Kernel::problem_id() const {
    std::string out = fmt::format("{}/{}/", op, name(precision));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        out += fmt::format("{}{}={}", i == 0 ? "" : ",", axes[i].name, axes[i].value);
    }
    return out;
}

std::string KernelSet::group_text() const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : group) parts.push_back(fmt::format("{}={}", key, value));
    return join(parts, ", ");
}

std::vector<std::string> environment_keys() {
    return {"gpu", "driver", "cudnn", "cublas", "cuda_runtime", "build", "tag"};
}

std::vector<KernelSet> load_kernels(const Store& store, const std::string& path,
                                    const Selection& selection,
                                    const std::vector<std::string>& by) {
    const TimeTable table = store.times(selection);

    // The set that each run belongs to.
    std::map<std::vector<std::string>, std::size_t> set_at;
    std::vector<KernelSet> sets;
    std::vector<std::size_t> set_of_run;
    std::map<std::string, Environment> environments;
    for (const Run& run : table.runs) {
        auto [found, fresh_environment] = environments.try_emplace(run.environment_hash);
        if (fresh_environment) found->second = store.environment(run.environment_hash);
        const Environment& e = found->second;
        std::vector<std::string> key = {e.gpu};
        for (const std::string& field : by) key.push_back(value_of(field, run, e));
        const auto [at, fresh] = set_at.try_emplace(key, sets.size());
        if (fresh) {
            KernelSet set{.gpu = e.gpu, .memory_bytes = static_cast<double>(e.memory_bytes)};
            for (const std::string& field : by) {
                if (field != "gpu") set.group.emplace_back(field, value_of(field, run, e));
            }
            sets.push_back(std::move(set));
        }
        set_of_run.push_back(at->second);
    }

    // Of each case in each set, the latest run that has it. Runs come oldest first.
    struct Rows {
        std::size_t run = 0;
        std::vector<std::pair<Estimate, int>> repeats;
    };
    std::vector<std::unordered_map<std::size_t, Rows>> latest(sets.size());
    for (const TimeTable::Row& row : table.rows) {
        Rows& rows = latest[set_of_run[row.run]][row.key];
        if (!rows.repeats.empty() && row.run < rows.run) continue;
        if (row.run > rows.run) rows.repeats.clear();
        rows.run = row.run;
        // Never more than half, whatever the timer said.
        const double floor_ns = std::min(table.runs[row.run].floor_ns, row.time_ns.value / 2);
        rows.repeats.push_back(
            {{row.time_ns.value - floor_ns, std::max(row.time_ns.lo - floor_ns, 0.0),
              row.time_ns.hi - floor_ns},
             row.samples});
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
        std::vector<std::size_t> keys;
        for (const auto& [key, rows] : latest[i]) keys.push_back(key);
        std::sort(keys.begin(), keys.end(), [&](std::size_t a, std::size_t b) {
            return table.case_ids[a] < table.case_ids[b];
        });
        sets[i].kernels.reserve(keys.size());
        for (const std::size_t key : keys) {
            Rows& rows = latest[i][key];
            const CaseIdParts parts = split_case_id(table.case_ids[key]);
            int samples = 0;
            for (const auto& [time, count] : rows.repeats) samples += count;
            Estimate time = combine(rows.repeats);
            if (samples == 0 && time.lo == time.value && time.hi == time.value) {
                time.lo *= 1 - imported_half_width;
                time.hi *= 1 + imported_half_width;
            }
            sets[i].kernels.push_back({parts.op, parse_precision(parts.precision), parts.provider,
                                       parts.variant, parse_l2(parts.l2), parse_axes(parts.axes),
                                       time, samples});
        }
        sets[i].origins = {path};
    }
    std::erase_if(sets, [](const KernelSet& set) { return set.kernels.empty(); });
    return sets;
}

std::string import_kernels(Store& store, const KernelSet& set, const std::string& file) {
    Environment environment;
    environment.device_kind = "cuda";
    environment.gpu = set.gpu;
    environment.memory_bytes = static_cast<std::int64_t>(set.memory_bytes);
    environment.extra["imported_from"] = file;
    Run run;
    run.run_id = make_run_id();
    run.started_at = utc_now();
    run.suite = "import";
    run.device = "imported";
    run.tag = "import";
    run.options = "{}";
    std::vector<Measurement> all;
    std::vector<std::string> plan;
    for (const Kernel& kernel : set.kernels) {
        std::vector<AxisSpec> specs;
        for (const Axis& axis : kernel.axes) {
            specs.push_back({.name = axis.name, .min = 0, .max = INT64_MAX});
        }
        Measurement m;
        m.key = {{kernel.op, kernel.precision, Axes(specs, kernel.axes, kernel.op)},
                 kernel.provider,
                 kernel.variant,
                 kernel.l2};
        // Stored as it was read: an interval that was assumed is not a measured one.
        const bool known = kernel.samples > 0;
        m.time_ns =
            known ? kernel.time_ns
                  : Estimate{kernel.time_ns.value, kernel.time_ns.value, kernel.time_ns.value};
        // At which clock is not known: as it is, by a method of its own, which no history mixes.
        m.norm_time_ns = m.time_ns;
        m.method = "import/1";
        m.measured_at = run.started_at;
        if (const OpInfo* info = find_op(kernel.op)) {
            const LeastWork least = least_work(*info, kernel.precision, kernel.axes);
            m.flop = least.flop;
            m.bytes_min = least.bytes;
        }
        plan.push_back(m.key.id());
        all.push_back(std::move(m));
    }
    store.begin_run(environment, run, plan);
    store.add(run.run_id, all);
    store.end_run(run.run_id, RunState::finished, utc_now());
    return run.run_id;
}

}  // namespace etalon::cost
