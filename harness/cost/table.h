// The cost table: every combination that was asked for, composed, served and priced.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cost/money.h"
#include "harness/cost/prices.h"

namespace etalon::cost {

// What a served model may be asked in; every list has at least one value.
struct Grid {
    std::vector<Model> models;
    std::vector<Precision> precisions = {Precision::bf16};
    std::optional<Precision> kv_precision;  // else bf16
    bool static_scales = false;
    std::vector<int> tp = {1};
    int ep = 1;
    std::vector<std::int64_t> batches = {1, 4, 16, 64};
    std::vector<std::int64_t> isl = {1024}, osl = {1024};  // every pair
    std::int64_t chunk = 0;
    double cache_hit = 0;
    std::vector<Impl> impls = {Impl::best};
    std::vector<std::string> providers;
};

// "best", or "trtllm+vllm" where providers are named.
[[nodiscard]] std::string kernels_text(const Choice& choice);
// The layout of one precision and tp of a grid; framework means nothing fused.
[[nodiscard]] Layout layout_of(const Grid& grid, Precision precision, int tp, Impl impl);

// One model, split and computed one way.
struct Configuration {
    const Model* model = nullptr;  // of the grid, which must outlive it
    Layout layout;
    Choice choice;
};
// By model, then choice of kernels, precision and tp. Throws a usage Error for a split that is
// none.
[[nodiscard]] std::vector<Configuration> configurations(const Grid& grid);

struct Pricing {
    std::function<Price(const std::string& card)> price_of;
    double utilisation = 1;
    Convention convention = Convention::additive;
};

struct TableRow {
    std::string model, gpu, group;  // group: what --by tells apart
    std::string kernels;            // whose: an Impl, or families of providers
    Layout layout;
    Workload workload;
    Served served;
    Rate rate;
    Cost cost;
    double tokens_per_s_gpu = 0;
    // A request's cost over that with the kernels that were named first: what other kernels are
    // worth. nullopt where there is one choice only, or one of the two is not known.
    std::optional<double> against_first;
    bool meets_limits = false;
    bool pareto = false;    // on the frontier of its model, layout and workload
    bool cheapest = false;  // of the batches there that meet the limits
};

struct CostTable {
    std::vector<TableRow> rows;
    std::vector<std::pair<std::string, Price>> prices;  // of each card that is in it
    std::vector<std::string> cards;                     // ceilings used, for the reader
    std::vector<std::string> missing;                   // problem ids, each once
    Grid grid;
    Limits limits;
    Pricing pricing;
};

// One part of the table for each set of kernels.
[[nodiscard]] CostTable build_table(const Grid& grid, const std::vector<KernelSet>& sets,
                                    const std::vector<Card>& cards, const Limits& limits,
                                    const Pricing& pricing);

}  // namespace etalon::cost
