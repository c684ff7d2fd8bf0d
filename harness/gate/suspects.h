// The first of two looks: which cases of a night are worth measuring again.
//
// One look at 1 % FDR over a thousand cases finds a 1 % slowdown at 0.3 % noise less than one time
// in five. So the first look lets every case pass that may have become slower by as much as should
// be found; those are measured again, and only the second look, over them alone and on the fresh
// values alone, flags.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/gate/compare.h"

namespace etalon::gate {

struct SuspectOptions {
    double slowdown = 0.01;  // relative; what two looks should find
    int repeats = 4;         // runs of a suspect, each in a fresh load state
};

// Indices into comparison.changes, in order: slower than before, and a slowdown of that size not
// excluded (one-sided 95 % bound of the ratio).
[[nodiscard]] std::vector<std::size_t> suspects(const Comparison& comparison,
                                                const SuspectOptions& options = {});

}  // namespace etalon::gate
