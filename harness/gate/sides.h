// The two sides of a comparison, as a user names them.
#pragma once

#include <string>
#include <vector>

#include "harness/store/store.h"

namespace etalon::gate {

struct Sides {
    std::vector<Run> before, after;  // oldest first
};

// Runs of `driver=580.95`, `cudnn=9.14,gpu=H200`, `run=ID` and the like. A usage Error where a side
// chooses nothing or cards of several models (a median over two cards is the time of neither), and
// where both hold the same run.
[[nodiscard]] Sides choose_sides(const Store& store, const std::string& before,
                                 const std::string& after);

}  // namespace etalon::gate
