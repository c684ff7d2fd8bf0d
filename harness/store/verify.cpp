#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/store/store_impl.h"

namespace etalon {
namespace {

// The stored summary must be what the samples say: the median lies among them, and there are as
// many as the row claims.
void check_samples(const MeasurementRow& row, const std::vector<Sample>& samples,
                   std::vector<std::string>& problems) {
    const std::string where = fmt::format("run {}, {}", row.run_id, row.case_id);
    if (row.m.status != Status::ok) return;
    if (!row.m.time_ns || !row.m.norm_time_ns) {
        problems.push_back(where + ": is ok and has no time");
        return;
    }
    // A table of somebody else's gives a time alone.
    if (samples.empty() && row.m.method.starts_with("import/")) return;
    if (samples.empty()) {
        problems.push_back(where + ": is ok and has no samples");
        return;
    }
    const auto [least, most] = std::minmax_element(
        samples.begin(), samples.end(),
        [](const Sample& a, const Sample& b) { return a.duration_ns < b.duration_ns; });
    const double slack = 1e-3;  // samples are kept in picoseconds
    for (const auto& [what, estimate] :
         {std::pair{"time", &*row.m.time_ns}, std::pair{"normalised time", &*row.m.norm_time_ns}}) {
        if (estimate->value < estimate->lo || estimate->value > estimate->hi) {
            problems.push_back(fmt::format("{}: the {} {} ns is outside of its interval [{}, {}]",
                                           where, what, estimate->value, estimate->lo,
                                           estimate->hi));
        }
    }
    if (row.m.time_ns->value < least->duration_ns - slack ||
        row.m.time_ns->value > most->duration_ns + slack) {
        problems.push_back(fmt::format("{}: the median {} ns is not among its samples", where,
                                       row.m.time_ns->value));
    }
}

void verify_run(const Store& store, const std::string& run_id, const std::string& hash,
                VerifyReport& report) {
    if (store.environment(hash).hash() != hash) {
        report.problems.push_back(fmt::format(
            "run {}: its environment does not have the hash that it is filed under", run_id));
    }
    for (const MeasurementRow& row : store.measurements(run_id)) {
        ++report.measurements;
        try {
            const std::vector<Sample> samples = store.samples_of(run_id, row.case_id, row.repeat);
            check_samples(row, samples, report.problems);
            report.samples += static_cast<std::int64_t>(samples.size());
            if (static_cast<int>(samples.size()) != row.sample_count) {
                report.problems.push_back(
                    fmt::format("run {}, {}: {} samples are claimed and {} stored", run_id,
                                row.case_id, row.sample_count, samples.size()));
            }
        } catch (const Error& error) {
            report.problems.push_back(
                fmt::format("run {}, {}: {}", run_id, row.case_id, error.what()));
        }
    }
    for (const RatioRow& row : store.ratios(run_id)) {
        const Estimate& r = row.ratio.ratio;
        if (r.value < r.lo || r.value > r.hi) {
            report.problems.push_back(
                fmt::format("run {}, {}: the ratio {} is outside of its interval [{}, {}]", run_id,
                            row.ratio.case_id, r.value, r.lo, r.hi));
        }
    }
}

}  // namespace

VerifyReport Store::verify() const {
    return impl_->read([&] {
        VerifyReport report;
        SQLite::Database& database = *impl_->database;
        SQLite::Statement integrity(database, "PRAGMA integrity_check(20)");
        while (integrity.executeStep()) {
            const std::string line = integrity.getColumn(0).getString();
            if (line != "ok") report.problems.push_back(one_line(line));
        }
        if (!report.problems.empty()) return report;  // nothing below can be trusted
        SQLite::Statement keys(database, "PRAGMA foreign_key_check");
        while (keys.executeStep()) {
            report.problems.push_back(fmt::format(
                "table {}: row {} refers to a missing row of {}", keys.getColumn(0).getString(),
                keys.getColumn(1).getInt64(), keys.getColumn(2).getString()));
        }
        SQLite::Statement ids(database,
                              "SELECT r.run_id, e.hash FROM runs r LEFT JOIN environments e "
                              "ON e.id = r.environment ORDER BY r.run_id");
        while (ids.executeStep()) {
            const std::string id = ids.getColumn(0).getString();
            const std::string hash = ids.getColumn(1).getString();
            ++report.runs;
            try {
                verify_run(*this, id, hash, report);
            } catch (const Error& error) {
                report.problems.push_back(fmt::format("run {}: {}", id, error.what()));
            }
        }
        return report;
    });
}

}  // namespace etalon
