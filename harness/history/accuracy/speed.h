// How long a results file of years takes to judge.
#pragma once

#include <string>
#include <vector>

namespace etalon::accuracy {

struct SpeedOptions {
    int cases = 10000, nights = 365;
    std::string keep;  // results file that is made if missing and kept; empty: a temporary one
};

struct Timing {
    std::string what, unit;
    double measured = 0, goal = 0;
    double cpu_s = 0;  // of all cores; 0: no time
};

// Builds the file by the store's API, then measures `history --all`, the history of one case, the
// gate of the latest night, and the memory of the process.
[[nodiscard]] std::vector<Timing> speed(const SpeedOptions& options);

}  // namespace etalon::accuracy
