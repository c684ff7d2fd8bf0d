#include "harness/gate/suspects.h"

#include <algorithm>
#include <cmath>

#include "harness/gate/false_discovery.h"

namespace etalon::gate {

std::vector<std::size_t> suspects(const Comparison& first_look, const SuspectOptions& options) {
    constexpr double one_sided = 1.6449 / 1.9600;  // of the half-width that is stored
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < first_look.changes.size(); ++i) {
        const auto& ratio = first_look.changes[i].ratio;
        if (!ratio) continue;
        const double effect = std::max(0.0, std::log(ratio->value));
        const double bound = effect + one_sided * std::log(ratio->hi / ratio->value);
        if (bound >= std::log1p(options.slowdown)) found.push_back(i);
    }
    return found;
}

std::vector<double> slower_fdr(const std::vector<Change>& second_look,
                               const SuspectOptions& options) {
    // Whether the slowdown asked for would be four of its own errors away.
    const auto shows = [&](const Change& change) {
        const double error = change.run_sigma * std::sqrt(1.0 / std::max(1, change.candidate_runs) +
                                                          1.0 / std::max(1, change.reference_runs));
        return std::log1p(options.slowdown) >= 4 * error;
    };
    std::vector<double> rates(second_look.size(), 1);
    for (const bool family : {true, false}) {
        std::vector<std::size_t> members;
        std::vector<double> p;
        for (std::size_t i = 0; i < second_look.size(); ++i) {
            const Change& change = second_look[i];
            if (!change.ratio || shows(change) != family) continue;
            members.push_back(i);
            p.push_back(change.ratio->value > 1 ? change.p / 2 : 1 - change.p / 2);
        }
        const std::vector<double> adjusted = benjamini_hochberg(p);
        for (std::size_t i = 0; i < members.size(); ++i) rates[members[i]] = adjusted[i];
    }
    return rates;
}

}  // namespace etalon::gate
