// The runs on one side of a comparison, reduced to one value per run and case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/gate/run_noise.h"
#include "harness/store/store.h"

namespace etalon::gate {

// Rows of one or more runs. Where a row carries its samples, medians and their errors are formed
// from them; else from the stored medians and intervals.
struct RunSet {
    std::vector<MeasurementRow> rows;
    std::map<std::string, Environment> environments;  // by hash; may lack some

    [[nodiscard]] std::vector<Environment> environments_used() const;  // each once, oldest first
    [[nodiscard]] std::string latest_run() const;                      // empty if there is none
};

// One run of one case. Points into the RunSet, which must outlive it.
struct RunPoint {
    std::string run_id, started_at, environment_hash, method;
    std::vector<const MeasurementRow*> rows;  // repeats within the run
    double reference_clock_mhz = 0;           // 0: unknown

    [[nodiscard]] double clock_mhz() const;  // median over rows; 0: unknown
    [[nodiscard]] double time_ns() const;    // normalised, as stored
    [[nodiscard]] int samples() const;
    // Log of the median time at `reference_mhz`, were the elasticity `e`. Falls back to the stored
    // normalised time where no clock is known.
    [[nodiscard]] RunValue at(double e, double reference_mhz) const;
    // As stored, each row by its own elasticity.
    [[nodiscard]] RunValue as_stored() const;
};

// All runs of one case on one side, oldest first (ties in order of run id).
struct CaseRuns {
    Case key;
    std::vector<RunPoint> points;                // status ok, a finite positive time
    int left_out = 0;                            // rows that said ok with a time that cannot be
    std::string incorrect, failed, unsupported;  // reason of the latest such row; "?" if unstated
    bool in_latest_run = false;
};

[[nodiscard]] std::map<std::string, CaseRuns> by_case(const RunSet& set);

}  // namespace etalon::gate
