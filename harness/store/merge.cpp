// Set union of two results files by run id, case and repeat.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "harness/store/store_impl.h"

namespace etalon {
namespace {

// How far a run has come: a finished shard outranks the same run seen while it was running.
int progress(RunState state) {
    return state == RunState::finished ? 2 : state == RunState::interrupted ? 1 : 0;
}

// All that tells one run from another; its state, its end and its tag change with time.
auto identity(const Run& run) {
    return std::tie(run.environment_hash, run.started_at, run.suite, run.device, run.revision,
                    run.host_name, run.options, run.floor_ns, run.quantum_ns);
}

// Without the samples, which stand apart, and the error, which may be no number.
auto content(const Measurement& m) {
    return std::tie(m.status, m.reason, m.time_ns, m.norm_time_ns, m.elasticity, m.clock_mhz,
                    m.flop, m.bytes_min, m.conditions, m.method, m.stop_reason, m.modes,
                    m.description, m.distribution, m.seed, m.wall_ms, m.measured_at);
}

bool same_number(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

using Key = std::pair<std::string, int>;  // case id, repeat

// Takes the rows of `other` into a file, inside the transaction of that file.
class Union {
   public:
    Union(const Store& ours, const std::string& our_path, const Store& other,
          const std::string& other_path)
        : ours_(ours), our_path_(our_path), other_(other), other_path_(other_path) {}

    // Of one run in two states the later, of two ends the later, of two tags the greater, so that
    // the order of merges makes no difference.
    [[nodiscard]] Run combined(Run mine, const Run& theirs) const {
        if (identity(mine) != identity(theirs)) {
            refuse(fmt::format("run {}", mine.run_id), "is another under the same id in");
        }
        const auto end = [](const Run& run) {
            return std::pair(progress(run.state), run.finished_at);
        };
        if (end(theirs) > end(mine)) {
            mine.state = theirs.state;
            mine.finished_at = theirs.finished_at;
        }
        mine.tag = std::max(mine.tag, theirs.tag);
        return mine;
    }

    // Those of the other file that are new here; samples with them.
    [[nodiscard]] std::vector<MeasurementRow> new_measurements(const std::string& run_id,
                                                               std::int64_t& already_there) const {
        std::map<Key, MeasurementRow> here;
        for (MeasurementRow& row : ours_.measurements(run_id)) {
            here.emplace(Key{row.case_id, row.repeat}, std::move(row));
        }
        std::vector<MeasurementRow> fresh;
        for (MeasurementRow& row : other_.measurements(run_id)) {
            row.m.samples = other_.samples_of(run_id, row.case_id, row.repeat);
            const auto mine = here.find({row.case_id, row.repeat});
            if (mine == here.end()) {
                fresh.push_back(std::move(row));
                continue;
            }
            const Measurement& m = mine->second.m;
            if (content(m) != content(row.m) || !same_number(m.error, row.m.error) ||
                ours_.samples_of(run_id, row.case_id, row.repeat) != row.m.samples) {
                refuse(fmt::format("run {}, {}", run_id, row.case_id), "differs from that in");
            }
            ++already_there;
        }
        return fresh;
    }

    [[nodiscard]] std::vector<RatioRow> new_ratios(const std::string& run_id) const {
        const auto key = [](const RatioRow& row) {
            return std::tuple(row.ratio.case_id, row.ratio.baseline_case_id, row.repeat);
        };
        std::map<std::tuple<std::string, std::string, int>, Estimate> here;
        for (const RatioRow& row : ours_.ratios(run_id)) here[key(row)] = row.ratio.ratio;
        std::vector<RatioRow> fresh;
        for (const RatioRow& row : other_.ratios(run_id)) {
            const auto mine = here.find(key(row));
            if (mine == here.end()) {
                fresh.push_back(row);
            } else if (mine->second != row.ratio.ratio) {
                refuse(fmt::format("run {}, the ratio of {}", run_id, row.ratio.case_id),
                       "differs from that in");
            }
        }
        return fresh;
    }

   private:
    [[noreturn]] void refuse(const std::string& what, std::string_view how) const {
        throw usage_error(fmt::format("{} of '{}' {} '{}'; nothing was merged: leave one file out",
                                      what, other_path_, how, our_path_));
    }

    const Store& ours_;
    const std::string& our_path_;
    const Store& other_;
    const std::string& other_path_;
};

}  // namespace

MergeReport Store::merge(const std::string& other_path) {
    const Store other = Store::open(other_path, Mode::read);
    MergeReport report;
    impl_->write([&] {
        const Union both(*this, impl_->path, other, other_path);
        std::map<std::string, Run> ours;
        for (const Run& run : runs()) ours[run.run_id] = run;
        for (const Run& run : other.runs()) {
            if (const auto mine = ours.find(run.run_id); mine == ours.end()) {
                impl_->insert_environment(other.environment(run.environment_hash));
                impl_->insert_run(run, other.plan(run.run_id));
                ++report.runs_added;
            } else {
                impl_->update_run(both.combined(mine->second, run));
            }
            const std::int64_t key = impl_->run_key(run.run_id);
            for (const MeasurementRow& row :
                 both.new_measurements(run.run_id, report.already_there)) {
                impl_->insert(key, impl_->case_key(row.case_id), row.m, row.repeat);
                ++report.measurements_added;
            }
            for (const RatioRow& row : both.new_ratios(run.run_id)) {
                impl_->insert(key, row.ratio, row.repeat);
            }
        }
    });
    return report;
}

}  // namespace etalon
