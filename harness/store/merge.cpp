// Set union of two results files by run id, case and repeat.

#include <fmt/format.h>

#include <map>

#include "harness/store/store_impl.h"

namespace etalon {
namespace {

// How far a run has come: a finished shard outranks the same run seen while it was running.
int progress(RunState state) {
    return state == RunState::finished ? 2 : state == RunState::interrupted ? 1 : 0;
}

bool same(const Measurement& a, const Measurement& b) {
    const auto equal = [](const std::optional<Estimate>& x, const std::optional<Estimate>& y) {
        return x.has_value() == y.has_value() &&
               (!x || (x->value == y->value && x->lo == y->lo && x->hi == y->hi));
    };
    return a.status == b.status && a.reason == b.reason && equal(a.time_ns, b.time_ns) &&
           equal(a.norm_time_ns, b.norm_time_ns) && a.measured_at == b.measured_at &&
           a.wall_ms == b.wall_ms;
}

}  // namespace

MergeReport Store::merge(const std::string& other_path) {
    const Store other = Store::open(other_path, Mode::read);
    MergeReport report;
    std::map<std::string, Run> ours;
    for (const Run& run : runs()) ours[run.run_id] = run;

    impl_->write([&] {
        for (const Run& run : other.runs()) {
            const auto mine = ours.find(run.run_id);
            if (mine == ours.end()) {
                impl_->insert_environment(other.environment(run.environment_hash));
                impl_->insert_run(run, other.plan(run.run_id));
                ++report.runs_added;
            } else if (mine->second.environment_hash != run.environment_hash ||
                       mine->second.started_at != run.started_at) {
                throw usage_error(fmt::format(
                    "run {} of '{}' is another run than that of '{}' under the same id; nothing "
                    "was merged",
                    run.run_id, other_path, impl_->path));
            } else if (progress(run.state) > progress(mine->second.state)) {
                SQLite::Statement& s =
                    impl_->statement("UPDATE runs SET state = ?, finished_at = ? WHERE run_id = ?");
                s.bind(1, std::string(name(run.state)));
                s.bind(2, run.finished_at);
                s.bind(3, run.run_id);
                s.exec();
            }
            const std::int64_t key = impl_->run_key(run.run_id);

            std::map<std::string, std::vector<MeasurementRow>> here;
            for (MeasurementRow& row : measurements(run.run_id)) {
                here[row.case_id].push_back(std::move(row));
            }
            std::map<std::string, std::size_t> repeat;
            for (MeasurementRow& row : other.measurements(run.run_id)) {
                const std::size_t at = repeat[row.case_id]++;
                const std::vector<MeasurementRow>& mine_rows = here[row.case_id];
                if (at < mine_rows.size()) {
                    if (!same(mine_rows[at].m, row.m)) {
                        throw usage_error(
                            fmt::format("run {}, {} differs between '{}' and '{}'; nothing was "
                                        "merged",
                                        run.run_id, row.case_id, impl_->path, other_path));
                    }
                    ++report.already_there;
                    continue;
                }
                row.m.samples = other.samples_of(run.run_id, row.case_id, static_cast<int>(at));
                impl_->insert(key, impl_->case_key(row.case_id), row.m,
                              static_cast<std::int64_t>(at));
                ++report.measurements_added;
            }

            std::map<std::string, std::size_t> known, seen;
            for (const RatioRow& row : ratios(run.run_id)) ++known[row.ratio.case_id];
            for (const RatioRow& row : other.ratios(run.run_id)) {
                const std::size_t at = seen[row.ratio.case_id]++;
                if (at >= known[row.ratio.case_id]) {
                    impl_->insert(key, row.ratio, static_cast<std::int64_t>(at));
                }
            }
        }
    });
    return report;
}

}  // namespace etalon
