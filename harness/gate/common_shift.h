// When everything moves at once, the machine moved.
#pragma once

#include <string>
#include <vector>

#include "harness/gate/compare.h"

namespace etalon::gate {

// With no recorded difference in the environment, a vendor's kernels cannot have changed. Where at
// least half of them (and six) moved the same way, the cause is the machine: verdicts in that
// direction become `ambiguous`, but for cases that moved well beyond the rest. Returns one line
// that says so, or nothing.
[[nodiscard]] std::string set_common_shift_aside(std::vector<Change>& changes);

}  // namespace etalon::gate
