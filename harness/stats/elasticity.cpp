// Clock elasticity: how much a kernel's time depends on the SM clock.
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <optional>

#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

constexpr double normal_975 = 1.959963984540054;  // Φ⁻¹(0.975)

// Error of one reading of the effective clock, relative. It pulls the slope towards 0 when the
// clock hardly moved (errors in variables), so its share of the spread is carried as uncertainty.
constexpr double clock_reading_sigma = 0.001;

// Timers step and many samples can be equal, so that the MAD of the residuals is 0; no time is
// known better than this.
constexpr double least_residual_sigma = 1e-4;

// Over this many samples the pairwise start uses an even subset: it is only a start.
constexpr std::size_t most_pairwise = 256;

struct Point {
    double log_clock = 0, log_time = 0;
};

struct Slope {
    double value = 0, sigma = 0;  // with Student's t folded into sigma
};

double weighted_median(std::vector<std::pair<double, double>> value_weight) {
    std::sort(value_weight.begin(), value_weight.end());
    double total = 0;
    for (const auto& [value, weight] : value_weight) total += weight;
    double seen = 0;
    for (const auto& [value, weight] : value_weight) {
        seen += weight;
        if (2 * seen >= total) return value;
    }
    return value_weight.back().first;
}

// Theil and Sen's slope with pairs weighted by their distance (Jaeckel 1972): two clusters of
// clocks, cool and hot, are the usual case, and pairs within a cluster say next to nothing.
double pairwise_slope(const std::vector<Point>& points) {
    const std::size_t stride = (points.size() + most_pairwise - 1) / most_pairwise;
    std::vector<std::pair<double, double>> slopes;
    for (std::size_t i = 0; i < points.size(); i += stride) {
        for (std::size_t j = 0; j < i; j += stride) {
            const double run = points[i].log_clock - points[j].log_clock;
            if (run == 0) continue;
            slopes.emplace_back((points[i].log_time - points[j].log_time) / run, std::fabs(run));
        }
    }
    return slopes.empty() ? 0 : weighted_median(std::move(slopes));
}

std::vector<double> residuals(const std::vector<Point>& points, double slope) {
    std::vector<double> rest;
    rest.reserve(points.size());
    for (const Point& point : points) rest.push_back(point.log_time - slope * point.log_clock);
    const double centre = median(rest);
    for (double& value : rest) value -= centre;
    return rest;
}

// Scale of residuals of a fitted line. A line with two free parameters brings about two residuals
// to zero, so the two smallest are left out (Maronna, Martin & Yohai 2006, 5.1: "normalised MAD of
// the non-null residuals"); without that, intervals from few samples are too narrow.
double residual_sigma(std::vector<double> rest) {
    for (double& value : rest) value = std::fabs(value);
    std::sort(rest.begin(), rest.end());
    constexpr double normal_consistency = 1.4826022185056018;
    const double sigma = normal_consistency * median(std::span(rest).subspan(2));
    return std::max(sigma, least_residual_sigma);
}

// Least squares with Tukey's bisquare weights, scale by the MAD kept from the pairwise start
// (an M-step of an MM estimate; Maronna, Martin & Yohai 2006, 5.5). Nothing without spread.
std::optional<Slope> robust_slope(std::vector<Point> points) {
    if (points.size() < 3) return std::nullopt;
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.log_clock < b.log_clock; });
    if (points.front().log_clock == points.back().log_clock) return std::nullopt;

    double slope = pairwise_slope(points);
    std::vector<double> rest = residuals(points, slope);
    const double sigma = residual_sigma(rest);
    constexpr double tuning = 4.685;     // 95 % efficient for normal errors
    constexpr double efficiency = 0.95;  // paid back in the variance below
    double weight_sum = 0, spread = 0;
    for (int step = 0; step < 20; ++step) {
        std::vector<double> weights;
        weights.reserve(points.size());
        double x_sum = 0, y_sum = 0;
        weight_sum = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double u = rest[i] / (tuning * sigma);
            const double weight = std::fabs(u) < 1 ? std::pow(1 - u * u, 2) : 0;
            weights.push_back(weight);
            weight_sum += weight;
            x_sum += weight * points[i].log_clock;
            y_sum += weight * points[i].log_time;
        }
        const double x_mean = x_sum / weight_sum, y_mean = y_sum / weight_sum;
        spread = 0;
        double product = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const double run = points[i].log_clock - x_mean;
            spread += weights[i] * run * run;
            product += weights[i] * run * (points[i].log_time - y_mean);
        }
        if (!(spread > 0)) return std::nullopt;  // what spread there was belonged to outliers
        const double next = product / spread;
        const double change = std::fabs(next - slope);
        slope = next;
        for (std::size_t i = 0; i < points.size(); ++i) {
            rest[i] = points[i].log_time - y_mean - slope * (points[i].log_clock - x_mean);
        }
        if (change < 1e-9) break;
    }
    const double freedom = std::max(1.0, weight_sum - 2);
    const boost::math::students_t_distribution<double> t(freedom);
    const double sampling =
        sigma / std::sqrt(efficiency * spread) * boost::math::quantile(t, 0.975) / normal_975;
    const double attenuation = std::pow(clock_reading_sigma, 2) / (spread / weight_sum);
    return Slope{slope, std::hypot(sampling, attenuation)};
}

std::vector<Point> usable(std::span<const Sample> samples) {
    std::vector<Point> points;
    points.reserve(samples.size());
    for (const Sample& sample : samples) {
        if (sample.clock_mhz > 0 && sample.duration_ns > 0) {
            points.push_back({std::log(sample.clock_mhz), std::log(sample.duration_ns)});
        }
    }
    return points;
}

}  // namespace

Estimate elasticity(std::span<const Sample> samples, const ElasticityPrior& prior) {
    double value = prior.mean, sigma = std::max(0.0, prior.sigma);
    const std::optional<Slope> slope = robust_slope(usable(samples));
    if (slope && sigma > 0) {
        const double measured = 1 / (slope->sigma * slope->sigma);
        const double known = 1 / (sigma * sigma);
        value = (measured * -slope->value + known * prior.mean) / (measured + known);
        sigma = 1 / std::sqrt(measured + known);
    }
    return {value, value - normal_975 * sigma, value + normal_975 * sigma};
}

double normalised_ns(const Sample& sample, double elasticity, double reference_clock_mhz) {
    return sample.duration_ns * std::pow(sample.clock_mhz / reference_clock_mhz, elasticity);
}

Estimate normalised_time(std::span<const Sample> samples, const Estimate& elasticity,
                         double reference_clock_mhz) {
    std::vector<double> raw, normalised, clocks;
    for (const Sample& sample : samples) {
        raw.push_back(sample.duration_ns);
        if (!(sample.clock_mhz > 0 && reference_clock_mhz > 0)) continue;
        clocks.push_back(sample.clock_mhz);
        normalised.push_back(normalised_ns(sample, elasticity.value, reference_clock_mhz));
    }
    if (normalised.empty()) return median_interval(raw);
    const Estimate sampled = median_interval(normalised);
    const double reach = (elasticity.hi - elasticity.lo) / 2 *
                         std::fabs(std::log(median(clocks) / reference_clock_mhz));
    // The two errors are independent, so their half-widths add in quadrature, on the log scale.
    const double down = std::hypot(std::log(sampled.value / sampled.lo), reach);
    const double up = std::hypot(std::log(sampled.hi / sampled.value), reach);
    return {sampled.value, sampled.value * std::exp(-down), sampled.value * std::exp(up)};
}

}  // namespace etalon::stats
