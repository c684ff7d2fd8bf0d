#include "harness/gate/run_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/stats/stats.h"

namespace etalon::gate {
namespace {

std::vector<double> log_times(std::span<const RunValue> values) {
    std::vector<double> logs;
    logs.reserve(values.size());
    for (const RunValue& value : values) logs.push_back(value.log_time);
    return logs;
}

// Variance after drawing values in to ±2.5 start sigmas: efficient for normal data (the factor pays
// back what the drawing in takes), deaf to a spike. `start` is never 0, so equal values do not make
// every other value an outlier.
double winsorised_variance(const std::vector<double>& values, double start) {
    constexpr double reach = 2.5, pay_back = 1.0227;  // 1 / variance of a normal drawn in to ±2.5
    const double centre = stats::median(values);
    double sum = 0, squares = 0;
    for (const double value : values) {
        const double drawn = std::clamp(value - centre, -reach * start, reach * start);
        sum += drawn;
        squares += drawn * drawn;
    }
    const auto n = static_cast<double>(values.size());
    return pay_back * std::max(0.0, squares - sum * sum / n) / (n - 1);
}

// Sum of distances from the median: one spike costs its distance, not the square of it.
double distance_from_level(std::span<const RunValue> values) {
    const std::vector<double> logs = log_times(values);
    const double centre = stats::median(logs);
    double sum = 0;
    for (const double value : logs) sum += std::fabs(value - centre);
    return sum;
}

}  // namespace

double class_sigma(DeviceKind kind, double time_ns) {
    // A virtual machine of two shared cores: runs of `quick` minutes apart scatter by 9 % in the
    // median case, by 17 % rms. A quiet machine's own history soon says less.
    if (kind == DeviceKind::host) return 0.1;
    if (time_ns >= 20e3) return 0.004;
    if (time_ns >= 5e3) return 0.008;
    return 0.02;
}

RunNoise run_noise(std::span<const std::vector<RunValue>> groups, double class_prior) {
    double weight = class_weight, variance_sum = class_weight * class_prior * class_prior;
    double freedom = class_freedom;
    for (const std::vector<RunValue>& group : groups) {
        if (group.size() < least_history) continue;
        const std::vector<double> logs = log_times(group);
        const double start = std::max(stats::mad_sigma(logs), class_prior);
        double within = 0;
        for (const RunValue& value : group) within += value.standard_error * value.standard_error;
        within /= static_cast<double>(group.size());
        const double between = std::max(0.0, winsorised_variance(logs, start) - within);
        const auto degrees = static_cast<double>(group.size() - 1);
        weight += degrees;
        freedom += degrees;
        variance_sum += degrees * between;
    }
    return {std::sqrt(variance_sum / weight), freedom};
}

double robust_centre(std::span<const RunValue> values, double sigma) {
    const std::vector<double> logs = log_times(values);
    double centre = stats::median(logs);
    if (!(sigma > 0)) return centre;
    constexpr double tuning = 1.5;
    for (int step = 0; step < 50; ++step) {
        double shift = 0;
        for (const double value : logs) {
            shift += std::clamp(value - centre, -tuning * sigma, tuning * sigma);
        }
        shift /= static_cast<double>(logs.size());
        centre += shift;
        if (std::fabs(shift) < 1e-12) break;
    }
    return centre;
}

std::size_t latest_level(std::span<const RunValue> values, double sigma, double least_step) {
    constexpr std::size_t least_length = 3;
    constexpr double strict = 5;
    std::size_t begin = 0;
    while (values.size() - begin >= 2 * least_length) {
        const auto rest = values.subspan(begin);
        double least_cost = std::numeric_limits<double>::infinity();
        std::size_t best = 0;
        for (std::size_t at = least_length; at + least_length <= rest.size(); ++at) {
            const double cost =
                distance_from_level(rest.first(at)) + distance_from_level(rest.subspan(at));
            if (cost < least_cost) {
                least_cost = cost;
                best = at;
            }
        }
        const auto before = rest.first(best), after = rest.subspan(best);
        const double step = std::fabs(robust_centre(after, sigma) - robust_centre(before, sigma));
        const double error = sigma * std::sqrt(1 / static_cast<double>(before.size()) +
                                               1 / static_cast<double>(after.size()));
        if (step < least_step || step <= strict * error) break;
        begin += best;
    }
    return begin;
}

}  // namespace etalon::gate
