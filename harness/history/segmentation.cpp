#include "harness/history/segmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::history {
namespace {

// Levels that a segment could have: the values, means of two and three neighbours, and medians of
// five, rounded to the step. Long segments find theirs among so many.
std::vector<double> candidate_levels(std::span<const double> values, double step) {
    std::vector<double> levels;
    levels.reserve(4 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        levels.push_back(values[i]);
        if (i >= 1) levels.push_back(0.5 * (values[i] + values[i - 1]));
        if (i >= 2) levels.push_back((values[i] + values[i - 1] + values[i - 2]) / 3);
        if (i >= 4) {
            double five[5];
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i - 4), 5, five);
            std::nth_element(five, five + 2, five + 5);
            levels.push_back(five[2]);
        }
    }
    const double origin = values.front();
    for (double& level : levels) level = origin + step * std::round((level - origin) / step);
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end(),
                             [&](double a, double b) { return b - a < 0.5 * step; }),
                 levels.end());
    return levels;
}

}  // namespace

std::vector<std::size_t> segment(std::span<const double> values, const NoiseModel& noise,
                                 std::span<const double> penalties) {
    if (values.empty()) return {};
    constexpr double steps_in_sigma = 6;
    const std::vector<double> levels = candidate_levels(values, noise.sigma / steps_in_sigma);
    const std::size_t n = values.size(), m = levels.size();
    const double per_sigma = 1 / noise.sigma;
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    const double reach = 3 * noise.sigma;

    // Best cost while level j is held, for one value so far (young) and for more (held); a change
    // is possible only out of the latter.
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<double> young(m, never), held(m, never);
    std::vector<int> begin(m, 0);  // where the level that is held began
    std::vector<int> begin_of_best(n, 0);
    double best = -penalties[0];  // so that the first level is free
    for (std::size_t t = 0; t < n; ++t) {
        const double x = values[t], before = t == 0 ? x : values[t - 1];
        const double fresh_start = best + penalties[t];
        const int previous = static_cast<int>(t) - 1;
        for (std::size_t j = 0; j < m; ++j) {
            const double r = x - levels[j];
            const double lag = noise.rho * std::clamp(before - levels[j], -reach, reach);
            const double first = r * first_weight * per_sigma, next = (r - lag) * per_sigma;
            const bool grown = young[j] < held[j];
            held[j] = (grown ? young[j] : held[j]) + std::min(next * next, noise.cap);
            begin[j] = grown ? previous : begin[j];
            young[j] = fresh_start + std::min(first * first, noise.cap);
        }
        const auto least = std::min_element(held.begin(), held.end());
        best = t == 0 ? never : *least;
        begin_of_best[t] = begin[static_cast<std::size_t>(least - held.begin())];
    }
    std::vector<std::size_t> changes;
    for (int at = begin_of_best[n - 1]; at > 0;
         at = begin_of_best[static_cast<std::size_t>(at - 1)]) {
        changes.push_back(static_cast<std::size_t>(at));
    }
    std::reverse(changes.begin(), changes.end());
    return changes;
}

}  // namespace etalon::history
