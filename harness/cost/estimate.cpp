#include "harness/cost/estimate.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace etalon::cost {
namespace {

std::string bound_of(const Operator& each, double time_ns, const Card& card) {
    if (each.op == op::all_reduce) return "link";
    const LeastWork work{each.flop, each.bytes};
    if (card.roof_ns(work, each.precision) < time_ns / 4) return "latency";
    return card.compute_bound(work, each.precision) ? "compute" : "memory";
}

// Is this operator done inside the kernel that `host` was found as?
bool done_inside(const Operator& each, const Found& host) {
    if (each.op == op::quantize) return host.provider.ends_with("+dynamic");
    return each.part_of == "attention" &&
           attention_includes_rope(host.provider.substr(0, host.provider.find('+')));
}

}  // namespace

StepEstimate estimate(const Model& model, const Step& step, const Layout& layout,
                      const Choice& choice, Lookup& lookup) {
    StepEstimate out;
    out.step = step;
    const bool decoding = step.prompts == 0;
    std::map<std::string, const Found*> hosts;  // by role
    for (Operator& each : compose(model, step, layout)) {
        const Found& found = lookup.find(each, layout, choice, decoding);
        if (each.part_of.empty()) hosts[each.role] = &found;
        out.unvalidated = out.unvalidated || each.unvalidated;
        out.rows.push_back({std::move(each), found});
    }
    // Errors of one operator repeat in every layer and add up; those of different operators are
    // independent. Operators of one shape are one operator, whatever their part is called.
    std::map<std::string, std::pair<double, double>> halves;
    double total = 0;
    for (StepRow& row : out.rows) {
        if (!row.op.part_of.empty()) {
            const auto host = hosts.find(row.op.part_of);
            if (host != hosts.end() && done_inside(row.op, *host->second)) {
                row.found = {Origin::included,
                             {},
                             host->second->provider,
                             "in the kernel of " + row.op.part_of,
                             0};
            }
        }
        if (row.found.origin == Origin::missing) {
            out.missing.push_back(row.op.problem_id());
            row.bound = "-";
            continue;
        }
        if (row.found.origin == Origin::included) {
            row.bound = "-";
            continue;
        }
        const Estimate& time = row.found.time_ns;
        row.time_ns = row.op.count * time.value;
        row.bound = bound_of(row.op, time.value, lookup.card());
        total += row.time_ns;
        auto& [below, above] = halves[row.op.problem_id()];
        below += row.op.count * (time.value - time.lo);
        above += row.op.count * (time.hi - time.value);
        (row.found.origin == Origin::measured       ? out.measured
         : row.found.origin == Origin::interpolated ? out.interpolated
                                                    : out.modelled) += row.time_ns;
    }
    double below = std::pow(composition_half_width * total, 2), above = below;
    for (const auto& [problem, half] : halves) {
        below += half.first * half.first;
        above += half.second * half.second;
    }
    out.time_ns = {total, std::max(0.0, total - std::sqrt(below)), total + std::sqrt(above)};
    if (total > 0) {
        for (double* share : {&out.measured, &out.interpolated, &out.modelled}) *share /= total;
        for (StepRow& row : out.rows) row.share = row.time_ns / total;
    }
    std::sort(out.missing.begin(), out.missing.end());
    out.missing.erase(std::unique(out.missing.begin(), out.missing.end()), out.missing.end());
    return out;
}

}  // namespace etalon::cost
