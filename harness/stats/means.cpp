// Ratios: the bootstrap of a ratio of medians, and the geometric mean of several ratios.
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <random>
#include <stdexcept>

#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

// Draws medians of resamples of one sorted set. A resample is counted, not built: how often each
// rank was drawn, then a walk up to the middle. That is what makes 1000 resamples cheap.
class MedianResampler {
   public:
    explicit MedianResampler(std::span<const double> values)
        : ascending_(values.begin(), values.end()), counts_(values.size()) {
        std::sort(ascending_.begin(), ascending_.end());
    }

    double draw(std::mt19937_64& random) {
        std::fill(counts_.begin(), counts_.end(), 0);
        const std::size_t n = ascending_.size();
        for (std::size_t i = 0; i < n; i += 2) {
            // Two ranks from each 64-bit word by multiply and shift: the standard fixes the
            // engine's words but not its distributions, so the result is the same everywhere.
            const std::uint64_t word = random();
            ++counts_[rank(word >> 32, n)];
            if (i + 1 < n) ++counts_[rank(word & 0xffffffffU, n)];
        }
        return middle();
    }

   private:
    static std::size_t rank(std::uint64_t bits32, std::size_t n) {
        return static_cast<std::size_t>((bits32 * n) >> 32);
    }

    [[nodiscard]] double middle() const {
        const std::size_t n = ascending_.size();
        const std::size_t lower = (n - 1) / 2, upper = n / 2;  // equal for odd n
        std::size_t at = 0, seen = counts_[0];
        while (seen <= lower) seen += counts_[++at];
        const double low = ascending_[at];
        while (seen <= upper) seen += counts_[++at];
        return (low + ascending_[at]) / 2;
    }

    std::vector<double> ascending_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace

Estimate ratio_of_medians(std::span<const double> a, std::span<const double> b, std::uint64_t seed,
                          int resamples, double confidence) {
    if (resamples < 1) throw std::invalid_argument("ratio_of_medians: resamples is under 1");
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("ratio_of_medians: confidence is outside (0, 1)");
    }
    const double value = median(a) / median(b);
    MedianResampler of_a(a), of_b(b);
    std::mt19937_64 random(seed);
    std::vector<double> ratios(static_cast<std::size_t>(resamples));
    for (double& ratio : ratios) {
        const double above = of_a.draw(random);
        ratio = above / of_b.draw(random);
    }
    const double tail = (1 - confidence) / 2;
    return {value, quantile(ratios, tail), quantile(ratios, 1 - tail)};
}

Estimate geometric_mean(std::span<const double> values, double confidence) {
    if (values.empty()) throw std::invalid_argument("geometric_mean: no values");
    if (!(confidence > 0 && confidence < 1)) {
        throw std::invalid_argument("geometric_mean: confidence is outside (0, 1)");
    }
    const auto n = static_cast<double>(values.size());
    double sum = 0;
    for (const double value : values) {
        if (!(value > 0)) throw std::invalid_argument("geometric_mean: a value is not positive");
        sum += std::log(value);
    }
    const double mean = sum / n;
    if (values.size() == 1) return {values[0], values[0], values[0]};
    double squares = 0;
    for (const double value : values) squares += std::pow(std::log(value) - mean, 2);
    const boost::math::students_t_distribution<double> t(n - 1);
    const double reach =
        boost::math::quantile(t, 1 - (1 - confidence) / 2) * std::sqrt(squares / (n - 1) / n);
    return {std::exp(mean), std::exp(mean - reach), std::exp(mean + reach)};
}

}  // namespace etalon::stats
