// The runs of a file as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "harness/core/records.h"

namespace etalon::report {

[[nodiscard]] nlohmann::json runs_list_json(const std::vector<Run>& runs);  // etalon.runs/1

}  // namespace etalon::report
