// The results store: one SQLite file in WAL mode, written one measurement at a time.
//
// Every measurement is committed as it is made, so kill -9 at any instant loses at most the case in
// flight. A Store is used from one thread; several processes may read while one writes. Every fault
// of the file (missing, empty, locked, truncated, corrupt, read-only, newer schema, not SQLite,
// full disk) is an Error of one line that names the file and the mend.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/core/records.h"

namespace etalon {

// Highest PRAGMA user_version this build writes. Files of an older schema are migrated after a
// backup beside them (`FILE.v<N>.bak`); newer ones are refused.
inline constexpr int schema_version = 2;

// One row of the stable table `measurements`, joined with its run and environment. Samples apart.
struct MeasurementRow {
    std::string run_id, started_at, suite, gpu, driver, cuda_runtime, cublas, cudnn;
    std::string environment_hash, revision, device, tag;
    double floor_ns = 0, quantum_ns = 0;  // of the run
    std::string case_id;
    int repeat = 0;  // 0, 1, ... within the run and case
    int sample_count = 0;
    Measurement m;  // m.samples is empty; see Store::samples
};

// One measurement without its texts and samples: a history of 10 000 cases over 365 nights fits
// into 100 MB.
struct NightValue {
    std::uint32_t run = 0, case_index = 0, method = 0;  // indices into NightValues
    Status status = Status::ok;
    double norm_time_ns = 0;  // NaN: none was stored
};
struct NightValues {
    std::vector<Run> runs;                            // by started_at, ties by run id
    std::map<std::string, Environment> environments;  // of those runs, by hash
    std::vector<std::string> case_ids, methods;
    std::vector<NightValue> values;  // by case, then run, then repeat
};

struct RatioRow {
    std::string run_id;
    std::string op, precision, axes;  // axes with ';'
    Ratio ratio;
    int repeat = 0;
};

// Which runs: every given field must match. `driver`, `cudnn`, `gpu` match as prefix of whole
// dot-separated parts (cudnn=9.14 matches 9.14.0), gpu also as case-blind substring.
struct Selection {
    std::optional<std::string> run, tag, suite, driver, cudnn, gpu, device, since, until;
    std::optional<std::string> environment_hash;
    bool finished_only = false;
    // Parses `driver=580.95`, `cudnn=9.14,gpu=H200`, `run=ID` (unique prefix), `tag=`, `since=`.
    // Throws a usage Error that lists the keys.
    [[nodiscard]] static Selection parse(std::string_view text);
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool matches(const Run& candidate, const Environment& environment) const;
};

struct VerifyReport {
    std::vector<std::string> problems;  // one line each; empty means sound
    std::int64_t runs = 0, measurements = 0, samples = 0;
};

struct MergeReport {
    std::int64_t runs_added = 0, measurements_added = 0, already_there = 0;
};

// Times of many cases and nothing else: what reads a whole file at once (`etalon cost`).
struct TimeTable {
    struct Row {
        std::size_t run = 0, key = 0;  // positions in the two lists
        int samples = 0;
        Estimate time_ns;
    };
    std::vector<Run> runs;              // as Store::runs
    std::vector<std::string> case_ids;  // each once
    std::vector<Row> rows;              // status ok; none of a case that was incorrect in the run
};

// The backup that a migration makes of a file of schema `version`.
[[nodiscard]] std::string migration_backup(const std::string& path, int version);

class Store {
   public:
    enum class Mode {
        read,   // must exist
        write,  // must exist
        create  // made if missing
    };
    [[nodiscard]] static Store open(const std::string& path, Mode mode);
    // The schema of the file as it stands.
    [[nodiscard]] static int schema_of(const std::string& path);
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    // --- writing -----------------------------------------------------------------------------
    // Stores the environment if new, the run under its hash, and the plan (case ids in order). One
    // transaction.
    void begin_run(const Environment& environment, const Run& run,
                   const std::vector<std::string>& plan);
    // One transaction, durable when it returns. Refuses NaN, Inf and negative durations with an
    // Error. A repeat within a run is a new row, never an overwrite.
    void add(const std::string& run_id, const Measurement& measurement);
    // All or none, in one transaction: for tables that were measured elsewhere.
    void add(const std::string& run_id, const std::vector<Measurement>& measurements);
    void add(const std::string& run_id, const Ratio& ratio);
    void end_run(const std::string& run_id, RunState state, const std::string& finished_at);
    // Interrupted or killed → running; a finished one is refused.
    void reopen_run(const std::string& run_id);
    void set_tag(const std::string& run_id, const std::string& tag);

    // --- reading -----------------------------------------------------------------------------
    [[nodiscard]] std::vector<Run> runs(const Selection& selection = {}) const;  // by started_at
    [[nodiscard]] Run run(const std::string& id_prefix) const;  // usage Error if none or several
    [[nodiscard]] Environment environment(const std::string& hash) const;
    [[nodiscard]] std::vector<std::string> plan(const std::string& run_id) const;
    // Planned cases with no measurement yet, in plan order.
    [[nodiscard]] std::vector<std::string> pending(const std::string& run_id) const;
    // As planned, then by case id; repeats of a case in order.
    [[nodiscard]] std::vector<MeasurementRow> measurements(const std::string& run_id) const;
    // Of all repeats of the case within the run.
    [[nodiscard]] std::vector<Sample> samples(const std::string& run_id,
                                              const std::string& case_id) const;
    // Of one repeat.
    [[nodiscard]] std::vector<Sample> samples_of(const std::string& run_id,
                                                 const std::string& case_id, int repeat) const;
    // All measurements of a case, oldest run first.
    [[nodiscard]] std::vector<MeasurementRow> series(const std::string& case_id,
                                                     const Selection& selection = {}) const;
    // What a comparison of runs looks at: no conditions or raw times, and descriptions only of the
    // last of `runs`. By run as given, then case and repeat.
    [[nodiscard]] std::vector<MeasurementRow> comparable_rows(const std::vector<Run>& runs,
                                                              bool with_samples) const;
    // The values of several cases, or of all when `case_ids` is empty, as lean as can be.
    [[nodiscard]] NightValues night_values(const Selection& selection = {},
                                           const std::vector<std::string>& case_ids = {}) const;
    [[nodiscard]] std::vector<std::string> case_ids() const;
    [[nodiscard]] TimeTable times(const Selection& selection = {}) const;
    [[nodiscard]] std::vector<RatioRow> ratios(const std::string& run_id) const;
    // Latest known wall time of each case id, for ETA and balance.
    [[nodiscard]] std::vector<std::pair<std::string, double>> wall_ms(
        const std::string& environment_hash) const;

    // Of each case, how its provider last described the way it was computed, where it was ok, on
    // the same model of device with the same driver and libraries.
    [[nodiscard]] std::unordered_map<std::string, std::string> descriptions(
        const Environment& like) const;

    // --- housekeeping ------------------------------------------------------------------------
    [[nodiscard]] VerifyReport verify() const;
    // Set union by run id, case and repeat; idempotent, in any order. Conflicting rows are refused
    // with their ids, and nothing is changed.
    MergeReport merge(const std::string& other_path);
    void backup(const std::string& to_path) const;
    // table: "measurements" | "ratios"; format: "csv" | "json". Streams through `write`.
    void export_table(const std::string& table, const std::string& format,
                      const std::function<void(std::string_view)>& write) const;

   private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// Held for a whole sweep: a second sweep into the same file gets a usage Error that names the
// process which holds it. Released by the kernel when the holder dies; a holder that ends takes its
// file `DATABASE.sweep-lock` away.
class SweepLock {
   public:
    explicit SweepLock(const std::string& database_path);
    SweepLock(SweepLock&& other) noexcept;
    ~SweepLock();

   private:
    std::string path_;
    int descriptor_ = -1;
};

}  // namespace etalon
