#include <fmt/format.h>

#include <algorithm>

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
    if (samples.empty()) {
        problems.push_back(where + ": is ok and has no samples");
        return;
    }
    const auto [least, most] = std::minmax_element(
        samples.begin(), samples.end(),
        [](const Sample& a, const Sample& b) { return a.duration_ns < b.duration_ns; });
    const double slack = 1e-3;  // samples are kept in picoseconds
    if (row.m.time_ns->value < least->duration_ns - slack ||
        row.m.time_ns->value > most->duration_ns + slack) {
        problems.push_back(fmt::format("{}: the median {} ns is not among its samples", where,
                                       row.m.time_ns->value));
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
            if (line != "ok") report.problems.push_back(line);
        }
        if (!report.problems.empty()) return report;  // nothing below can be trusted
        SQLite::Statement keys(database, "PRAGMA foreign_key_check");
        while (keys.executeStep()) {
            report.problems.push_back(fmt::format(
                "table {}: row {} refers to a missing row of {}", keys.getColumn(0).getString(),
                keys.getColumn(1).getInt64(), keys.getColumn(2).getString()));
        }
        for (const Run& run : runs()) {
            ++report.runs;
            if (environment(run.environment_hash).hash() != run.environment_hash) {
                report.problems.push_back(
                    fmt::format("run {}: its environment does not have the hash that it is filed "
                                "under",
                                run.run_id));
            }
            for (const MeasurementRow& row : measurements(run.run_id)) {
                ++report.measurements;
                try {
                    const std::vector<Sample> all = samples(run.run_id, row.case_id);
                    check_samples(row, all, report.problems);
                    report.samples += row.sample_count;
                    if (static_cast<std::int64_t>(all.size()) < row.sample_count) {
                        report.problems.push_back(
                            fmt::format("run {}, {}: {} samples are claimed and {} stored",
                                        run.run_id, row.case_id, row.sample_count, all.size()));
                    }
                } catch (const Error& error) {
                    report.problems.push_back(
                        fmt::format("run {}, {}: {}", run.run_id, row.case_id, error.what()));
                }
            }
        }
        return report;
    });
}

}  // namespace etalon
