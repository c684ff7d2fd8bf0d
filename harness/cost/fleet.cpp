#include "harness/cost/fleet.h"

#include <algorithm>

namespace etalon::cost {

std::vector<FleetReport> fleets(Grid grid, const std::vector<KernelSet>& sets,
                                const std::vector<Card>& cards, const Limits& limits,
                                const Pricing& pricing, const WhatIf& what_if) {
    for (std::int64_t b = 1; b <= 1024; b *= 2) {
        grid.batches.push_back(b);
        if (b > 1) grid.batches.push_back(b + b / 2);
    }
    std::sort(grid.batches.begin(), grid.batches.end());
    grid.batches.erase(std::unique(grid.batches.begin(), grid.batches.end()), grid.batches.end());
    const CostTable table = build_table(grid, sets, cards, limits, pricing);
    std::vector<FleetReport> out;
    // Rows that differ in batch only stand together.
    for (std::size_t i = 0; i < table.rows.size(); i += grid.batches.size()) {
        std::vector<Served> batches;
        for (std::size_t j = 0; j < grid.batches.size(); ++j) {
            batches.push_back(table.rows[i + j].served);
        }
        const TableRow& row = table.rows[i];
        out.push_back({row.model, row.gpu, row.layout, row.workload, limits,
                       pricing.price_of(row.gpu),
                       answer(what_if, batches, row.workload, limits, row.layout.tp)});
    }
    return out;
}

}  // namespace etalon::cost
