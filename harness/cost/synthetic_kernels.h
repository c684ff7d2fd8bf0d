// For tests and benchmarks: every kernel that a grid needs, at a given share of the roofline.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "harness/cost/data_files.h"
#include "harness/cost/table.h"

namespace etalon::cost {

[[nodiscard]] inline std::vector<Card> shipped_cards() {
    const std::string path = find_data_file("gpus.toml").string();
    return parse_cards(read_text(path), path);
}

[[nodiscard]] inline Card h200() {
    return card_of(shipped_cards(), {.gpu = "NVIDIA H200"});
}

[[nodiscard]] inline Kernel synthetic_kernel(const Operator& each, double utilisation,
                                             const std::string& provider = "etalon",
                                             double half_width = 0.005) {
    const double ns = 1500 + h200().roof_ns({each.flop, each.bytes}, each.precision) / utilisation;
    return {each.op,
            each.precision,
            provider,
            "",
            L2Mode::cold,
            each.axes,
            {ns, ns * (1 - half_width), ns * (1 + half_width)},
            32};
}

// Those of these models, steps and layouts, each once.
[[nodiscard]] inline KernelSet synthetic_kernels(const Grid& grid, double half_width = 0.005) {
    KernelSet set{.gpu = "NVIDIA H200", .origins = {"synthetic"}};
    std::set<std::string> seen;
    for (const Model& model : grid.models)
        for (const Precision precision : grid.precisions)
            for (const int tp : grid.tp)
                for (const Impl impl : {Impl::best, Impl::framework})
                    for (const std::int64_t isl : grid.isl)
                        for (const std::int64_t osl : grid.osl)
                            for (const std::int64_t batch : grid.batches)
                                for (const Step& step :
                                     steps_of({isl, osl, 0, grid.chunk}, batch)) {
                                    const Layout layout = layout_of(grid, precision, tp, impl);
                                    for (const Operator& each : compose(model, step, layout)) {
                                        if (!seen.insert(each.problem_id()).second) continue;
                                        set.kernels.push_back(
                                            synthetic_kernel(each, 0.7, "etalon", half_width));
                                        set.kernels.push_back(
                                            synthetic_kernel(each, 0.6, "cublaslt", half_width));
                                    }
                                }
    return set;
}

[[nodiscard]] inline Pricing fixed_price(double usd) {
    Pricing pricing;
    pricing.price_of = [usd](const std::string&) {
        return Price{.usd_per_hour = usd, .lo_usd = usd, .hi_usd = usd, .source = "test"};
    };
    return pricing;
}

}  // namespace etalon::cost
