// What a change of utilisation does to a fleet, for each combination of a grid.
#pragma once

#include <string>
#include <vector>

#include "harness/cost/table.h"

namespace etalon::cost {

struct FleetReport {
    std::string model, gpu;
    Layout layout;
    Workload workload;
    Limits limits;
    Price price;
    FleetAnswer answer;
};

// The batch is free: every one up to 1024 that could be the best is tried, and those of the grid.
[[nodiscard]] std::vector<FleetReport> fleets(Grid grid, const std::vector<KernelSet>& sets,
                                              const std::vector<Card>& cards, const Limits& limits,
                                              const Pricing& pricing, const WhatIf& what_if);

}  // namespace etalon::cost
