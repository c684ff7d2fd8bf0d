// From the store to the values that are compared.
#pragma once

#include <vector>

#include "harness/gate/run_set.h"

namespace etalon::gate {

// All rows of the runs and their environments. Without samples a row is compared by its stored
// median, brought to the common clock to first order: enough for the many runs of a reference.
enum class Samples { load, leave };
[[nodiscard]] RunSet load_runs(const Store& store, const std::vector<Run>& runs,
                               Samples samples = Samples::load);

// Runs that match, oldest first, unfinished ones too. A usage Error that says which values there
// are when none does.
[[nodiscard]] std::vector<Run> choose_runs(const Store& store, const Selection& selection);

// Latest finished run, or the one whose id begins with `run`. A usage Error without one.
[[nodiscard]] Run choose_run(const Store& store, const std::optional<std::string>& run);

// Up to `window` latest finished runs before `run` that can be set against it: same suite, device,
// GPU model and method version. Oldest first; may be empty.
[[nodiscard]] std::vector<Run> earlier_runs(const Store& store, const Run& run, int window);

}  // namespace etalon::gate
