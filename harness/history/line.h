// One case over its nights: what changed in it, when, and what else changed then.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/core/environment_change.h"
#include "harness/history/detect.h"
#include "harness/store/store.h"

namespace etalon::history {

// A part of the environment, or the revision of etalon, that changed with a run.
struct Cause {
    FieldChange change;
    std::size_t run = 0;  // index into NightValues::runs: the first in the new state
    bool operator==(const Cause& other) const {
        return run == other.run && change.text() == other.change.text();
    }
};

// A change point with its nights. `causes` are those of the runs within its interval; the ones of
// the very night come first. Empty: nothing that is recorded changed.
struct DatedPoint {
    ChangePoint point;
    std::size_t run = 0, earliest_run = 0, latest_run = 0;  // indices into NightValues::runs
    std::vector<Cause> causes;
    double before_ns = 0, after_ns = 0;  // levels
};

struct DatedDrift {
    Drift drift;
    std::size_t first_run = 0, last_run = 0;
};

struct Night {
    std::uint32_t run = 0;  // index into NightValues::runs
    Status status = Status::ok;
    double time_ns = std::numeric_limits<double>::quiet_NaN();  // at the reference clock; NaN: none
};

// One case on one GPU model by one method: a history never mixes two of either. A changed driver, a
// reboot or any other part of the environment does not end it.
struct Line {
    std::string case_id, gpu, method;
    DeviceKind device = DeviceKind::cuda;
    std::vector<Night> nights;       // oldest first, one a run
    int left_out = 0;                // times that cannot be: NaN, Inf, 0 or negative
    std::vector<std::size_t> timed;  // index into nights of each value the detector saw
    Detection found;
    std::vector<DatedPoint> points;  // oldest first
    std::vector<DatedDrift> drifts;
    std::vector<Cause> environment;  // every change between two nights, but of the revision
};

// By case id, then GPU, then method. On every core.
[[nodiscard]] std::vector<Line> lines_of(const NightValues& values,
                                         double least_effect = DetectOptions{}.least_effect);

}  // namespace etalon::history
