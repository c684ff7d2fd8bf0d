// Shares found by simulation, and the lines they are checked by.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/history/parallel.h"

namespace etalon::accuracy {

using history::in_parallel;

// One figure against its goal, in per cent.
struct Check {
    std::string what;
    double share = 0;  // 0 to 1
    double goal = 0;
    bool at_most = false;  // else at least
    std::size_t trials = 0;
    [[nodiscard]] bool reached() const { return at_most ? share <= goal : share >= goal; }
};

inline std::string markdown(const std::vector<Check>& checks) {
    std::string text = "| what | measured | goal | trials | |\n|---|---|---|---|---|\n";
    for (const Check& check : checks) {
        text += fmt::format("| {} | {:.2f} % | {} {:.3g} % | {} | {} |\n", check.what,
                            100 * check.share, check.at_most ? "≤" : "≥", 100 * check.goal,
                            check.trials, check.reached() ? "reached" : "**missed**");
    }
    return text;
}

}  // namespace etalon::accuracy
