#include "harness/gate/suspects.h"

#include <cmath>

namespace etalon::gate {

std::vector<std::size_t> suspects(const Comparison& comparison, const SuspectOptions& options) {
    constexpr double one_sided = 1.6449 / 1.9600;  // of the half-width that is stored
    const double least = std::log1p(options.slowdown);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < comparison.changes.size(); ++i) {
        const Change& change = comparison.changes[i];
        if (!change.ratio) continue;
        const double effect = std::log(change.ratio->value);
        const double bound = effect + one_sided * std::log(change.ratio->hi / change.ratio->value);
        if (effect > 0 && bound >= least) found.push_back(i);
    }
    return found;
}

}  // namespace etalon::gate
