// One case over time.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/environment_change.h"
#include "harness/gate/run_set.h"

namespace etalon::report {

struct HistoryPoint {
    std::string run_id, started_at;
    std::optional<double> time_ns;  // at the reference clock; none: not measured, see `status`
    Status status = Status::ok;
};

struct EnvironmentPoint {
    std::string run_id, started_at;  // the first run in the new environment
    std::vector<FieldChange> changes;
};

// One case on one GPU model by one method: a history never mixes two of either.
struct HistoryLine {
    std::string case_id, gpu, method;
    std::vector<HistoryPoint> points;  // oldest first
    std::vector<EnvironmentPoint> environment;
    double last_ns = 0, median_ns = 0;  // 0: never measured
    double spread = 0;                  // robust relative σ between runs
};

// `set`: rows of any cases; `limit`: latest points kept of each line (0: all). By case id.
[[nodiscard]] std::vector<HistoryLine> history(const gate::RunSet& set, std::size_t limit);

// One line a case, and one for each point where the environment changed.
[[nodiscard]] std::string history_text(const std::vector<HistoryLine>& lines);
[[nodiscard]] nlohmann::json history_json(const std::vector<HistoryLine>& lines);

}  // namespace etalon::report
