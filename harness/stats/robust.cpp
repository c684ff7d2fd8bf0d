// Order statistics: quantiles, the MAD and the interval of the median.
#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <stdexcept>

#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

std::vector<double> sorted(std::span<const double> values, const char* function) {
    if (values.empty()) throw std::invalid_argument(std::string(function) + ": no values");
    std::vector<double> copy(values.begin(), values.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

double quantile_of_sorted(std::span<const double> ascending, double q) {
    const double position = q * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    const double weight = position - static_cast<double>(below);
    return ascending[below] + weight * (ascending[above] - ascending[below]);
}

// How many of n values may be left out at each end so that the rest still covers the median with
// `confidence`: the greatest k with 2·P(B < k) <= 1 − confidence, B binomial(n, 1/2).
std::size_t values_outside(std::size_t n, double confidence) {
    const boost::math::binomial_distribution<double> heads(static_cast<double>(n), 0.5);
    const double tail = (1 - confidence) / 2;
    if (boost::math::cdf(heads, 0.0) > tail) return 0;
    auto k = static_cast<std::size_t>(boost::math::quantile(heads, tail));
    // The rounding of a discrete quantile is a policy of the library; the definition is ours.
    while (boost::math::cdf(heads, static_cast<double>(k)) <= tail) ++k;
    while (k > 0 && boost::math::cdf(heads, static_cast<double>(k - 1)) > tail) --k;
    return k;
}

}  // namespace

double quantile(std::span<const double> values, double q) {
    if (!(q >= 0 && q <= 1)) throw std::invalid_argument("quantile: q is outside [0, 1]");
    return quantile_of_sorted(sorted(values, "quantile"), q);
}

double median(std::span<const double> values) {
    return quantile_of_sorted(sorted(values, "median"), 0.5);
}

double mad_sigma(std::span<const double> values) {
    const double centre = median(values);
    std::vector<double> distances;
    distances.reserve(values.size());
    for (const double value : values) distances.push_back(std::fabs(value - centre));
    constexpr double normal_consistency = 1.4826022185056018;  // 1 / Φ⁻¹(3/4)
    return normal_consistency * median(distances);
}

Estimate median_interval(std::span<const double> values, double confidence) {
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("median_interval: confidence is outside (0, 1)");
    }
    const std::vector<double> ascending = sorted(values, "median_interval");
    const std::size_t n = ascending.size();
    const std::size_t k = values_outside(n, confidence);
    // k values outside means the order statistics k and n+1−k, counted from 1; k = 0 cannot reach
    // the confidence, and the range is the best there is.
    const std::size_t low = k == 0 ? 0 : k - 1;
    return {quantile_of_sorted(ascending, 0.5), ascending[low], ascending[n - 1 - low]};
}

}  // namespace etalon::stats
