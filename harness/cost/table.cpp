#include "harness/cost/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"

namespace etalon::cost {
namespace {

// Marks the frontier and the cheapest batch among rows that differ in batch only.
void judge(std::vector<TableRow>& rows, std::size_t begin, const Limits& limits) {
    std::vector<double> tpot, throughput;
    TableRow* cheapest = nullptr;
    for (std::size_t i = begin; i < rows.size(); ++i) {
        TableRow& row = rows[i];
        // What the cache does not hold does not run: it is a smaller batch, which has its own row.
        const bool runs = row.served.known() && !row.served.limited();
        tpot.push_back(runs ? row.served.tpot_ns.value : NAN);
        throughput.push_back(row.tokens_per_s_gpu);
        row.meets_limits = row.served.meets(limits);
        if (row.meets_limits && runs &&
            (cheapest == nullptr ||
             row.cost.request_usd.value < cheapest->cost.request_usd.value)) {
            cheapest = &row;
        }
    }
    if (cheapest != nullptr) cheapest->cheapest = true;
    const std::vector<bool> on = pareto(tpot, throughput);
    for (std::size_t i = begin; i < rows.size(); ++i) rows[i].pareto = on[i - begin];
}

// Rows from `begin` on are one block for each choice of kernels, all in one order.
void set_against_first(std::vector<TableRow>& rows, std::size_t begin, std::size_t choices) {
    const std::size_t block = (rows.size() - begin) / choices;
    for (std::size_t i = begin; choices > 1 && i < rows.size(); ++i) {
        const TableRow& first = rows[begin + (i - begin) % block];
        const double base = first.cost.request_usd.value;
        if (first.served.known() && rows[i].served.known() && base > 0 &&
            first.served.batch == rows[i].served.batch) {
            rows[i].against_first = rows[i].cost.request_usd.value / base;
        }
    }
}

}  // namespace

std::string kernels_text(const Choice& choice) {
    return choice.providers.empty() ? std::string(name(choice.impl)) : join(choice.providers, "+");
}

Layout layout_of(const Grid& grid, Precision precision, int tp, Impl impl) {
    return {.tp = tp,
            .ep = grid.ep,
            .precision = precision,
            .kv_precision = grid.kv_precision.value_or(Precision::bf16),
            .static_scales = grid.static_scales,
            .fused = impl != Impl::framework};
}

std::vector<Configuration> configurations(const Grid& grid) {
    std::vector<Configuration> all;
    for (const Model& model : grid.models) {
        for (const Impl impl : grid.impls) {
            for (const Precision precision : grid.precisions) {
                for (const int tp : grid.tp) {
                    all.push_back(
                        {&model, layout_of(grid, precision, tp, impl), {impl, grid.providers}});
                    check_layout(model, all.back().layout);
                }
            }
        }
    }
    return all;
}

CostTable build_table(const Grid& grid, const std::vector<KernelSet>& sets,
                      const std::vector<Card>& cards, const Limits& limits,
                      const Pricing& pricing) {
    CostTable table;
    table.grid = grid;
    table.limits = limits;
    table.pricing = pricing;
    for (const KernelSet& set : sets) {
        const Card card = card_of(cards, set);
        Lookup lookup(set, card);
        const Price price = pricing.price_of(card.name);
        const auto same = std::find_if(table.prices.begin(), table.prices.end(),
                                       [&](const auto& each) { return each.first == card.name; });
        if (same == table.prices.end()) {
            table.prices.emplace_back(card.name, price);
            table.cards.push_back(fmt::format("{}: {:.0f} GB, copy {:.0f} GB/s ({})", card.name,
                                              card.memory_bytes / 1e9, card.copy_gb_s,
                                              card.source));
        }
        const std::vector<Configuration> all = configurations(grid);
        const std::size_t of_model = all.size() / grid.models.size();
        std::size_t model_begin = table.rows.size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Configuration& c = all[i];
            const Rate rate{price.usd_per_hour, c.layout.tp, pricing.utilisation};
            for (const std::int64_t isl : grid.isl) {
                for (const std::int64_t osl : grid.osl) {
                    const Workload workload{isl, osl, grid.cache_hit, grid.chunk};
                    const std::size_t begin = table.rows.size();
                    for (const std::int64_t batch : grid.batches) {
                        TableRow row{.model = c.model->name,
                                     .gpu = card.name,
                                     .group = set.group_text(),
                                     .kernels = kernels_text(c.choice),
                                     .layout = c.layout,
                                     .workload = workload,
                                     .rate = rate};
                        row.served = serve(*c.model, c.layout, c.choice, workload, batch, lookup);
                        row.cost = cost_of(row.served, workload, rate, pricing.convention);
                        row.tokens_per_s_gpu = row.served.tokens_per_s / c.layout.tp;
                        table.missing.insert(table.missing.end(), row.served.missing.begin(),
                                             row.served.missing.end());
                        table.rows.push_back(std::move(row));
                    }
                    judge(table.rows, begin, limits);
                }
            }
            if ((i + 1) % of_model == 0) {
                set_against_first(table.rows, model_begin, grid.impls.size());
                model_begin = table.rows.size();
            }
        }
    }
    std::sort(table.missing.begin(), table.missing.end());
    table.missing.erase(std::unique(table.missing.begin(), table.missing.end()),
                        table.missing.end());
    return table;
}

}  // namespace etalon::cost
