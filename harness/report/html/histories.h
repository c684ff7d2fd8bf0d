// The histories of a page: those with something to see night by night, the others thinned.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/history/cluster.h"
#include "harness/history/line.h"

namespace etalon::report {

struct ThinOptions {
    std::size_t whole = 1500;  // histories that keep every night
    std::size_t few = 24;  // nights of a thinned one: its first and latest are always among them
};

// {"night_lists": [[run, ...], ...], "lines": [...]}: values are 10⁻⁵ of `base_ns` above or below
// it (null: none), on the nights of a list that lines share. `flagged`: case ids that the gate
// speaks of. What is thinned keeps its changes, drifts and causes.
[[nodiscard]] nlohmann::json histories_json(const std::vector<history::Line>& lines,
                                            const std::set<std::string>& flagged,
                                            const ThinOptions& options = {});

// Members of a cluster as [line, point]: indices into the lines above. At most `most` each.
[[nodiscard]] nlohmann::json clusters_json(const std::vector<history::Cluster>& clusters,
                                           std::size_t most = 500);

// Every run and, in order, what changed in the environment or the revision since the one before it
// on the same GPU model.
[[nodiscard]] nlohmann::json runs_json(const NightValues& values);

}  // namespace etalon::report
