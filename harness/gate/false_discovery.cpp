#include "harness/gate/false_discovery.h"

#include <algorithm>
#include <numeric>

namespace etalon::gate {

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
    std::vector<double> p(p_values.size());
    // Written so that NaN fails the comparison.
    std::transform(p_values.begin(), p_values.end(), p.begin(),
                   [](double value) { return value <= 1 ? std::max(0.0, value) : 1.0; });
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<double> adjusted(p.size());
    double least = 1;
    std::size_t rank = p.size();
    for (const std::size_t index : order) {  // from the largest p down
        const double scaled =
            p[index] * static_cast<double>(p.size()) / static_cast<double>(rank--);
        least = std::min(least, scaled);
        adjusted[index] = least;
    }
    return adjusted;
}

}  // namespace etalon::gate
