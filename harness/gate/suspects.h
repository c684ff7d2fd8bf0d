// The two looks of a night: which cases are worth measuring again, and what the second look says.
//
// One look at 1 % FDR over a thousand cases finds a 1 % slowdown at 0.3 % noise less than one time
// in five. So the first look lets every case pass in which such a slowdown is not excluded; those
// are measured again, and only the second look, on the fresh runs alone, flags.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/gate/compare.h"

namespace etalon::gate {

struct SuspectOptions {
    double slowdown = 0.01;  // relative; what two looks should find
    int repeats = 4;         // runs of a suspect, each in a fresh load state
};

// Indices into first_look.changes, in order: a slowdown of that size is not excluded (the upper
// 95 % bound of the ratio, one-sided). A case so noisy that no single run excludes it is one every
// night: a history of means of five runs is what shows it in the end.
[[nodiscard]] std::vector<std::size_t> suspects(const Comparison& first_look,
                                                const SuspectOptions& options = {});

// False discovery rates of "slower", one for each change of a comparison of the suspects' fresh
// runs: one-sided, by Benjamini & Hochberg within two families, so that the many cases too noisy
// for a slowdown of that size to show do not blind the rest.
[[nodiscard]] std::vector<double> slower_fdr(const std::vector<Change>& second_look,
                                             const SuspectOptions& options = {});

}  // namespace etalon::gate
