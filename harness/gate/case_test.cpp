#include "harness/gate/case_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

#include "harness/stats/stats.h"

namespace etalon::gate {
namespace {

constexpr double normal_975 = 1.959963984540054;

using Points = std::vector<RunPoint>;

// How times of both sides are brought to one clock.
struct Clocking {
    bool stored = true;         // take the stored normalised times as they are
    double e = 0, e_sigma = 0;  // else: one elasticity for both sides
    double reference_mhz = 0;

    [[nodiscard]] RunValue value(const RunPoint& point) const {
        return stored ? point.as_stored() : point.at(e, reference_mhz);
    }
};

struct Pooled {
    double value = 0, sigma = 0;
    bool known = false;
};

// Weighted mean over runs. The prior is in every one of them, so their number does not make it
// surer: the error is that of the best.
Pooled pooled_elasticity(const Points& points) {
    double weights = 0, sum = 0;
    Pooled pooled;
    for (const RunPoint& point : points) {
        for (const MeasurementRow* row : point.rows) {
            if (!row->m.elasticity) continue;
            const double sigma =
                std::max(1e-4, (row->m.elasticity->hi - row->m.elasticity->lo) / (2 * normal_975));
            weights += 1 / (sigma * sigma);
            sum += row->m.elasticity->value / (sigma * sigma);
            pooled.sigma = pooled.known ? std::min(pooled.sigma, sigma) : sigma;
            pooled.known = true;
        }
    }
    if (pooled.known) pooled.value = sum / weights;
    return pooled;
}

const std::string& gpu(const Points& points) {
    return points.back().rows.front()->gpu;
}

bool all_have_clocks(const Points& points) {
    return std::all_of(points.begin(), points.end(), [](const RunPoint& point) {
        return point.clock_mhz() > 0 && point.reference_clock_mhz > 0;
    });
}

Clocking clocking_of(const Points& a, const Points& b) {
    Clocking clocking;
    // Two GPU models are compared each at its own clock; there is no common one to ask for.
    if (gpu(a) != gpu(b) || !all_have_clocks(a) || !all_have_clocks(b)) return clocking;
    const Pooled before = pooled_elasticity(a), after = pooled_elasticity(b);
    if (!before.known || !after.known) return clocking;
    // Another kernel may depend on the clock in another way; then each side keeps its own.
    const double apart = std::fabs(before.value - after.value);
    if (apart > 3 * std::hypot(before.sigma, after.sigma)) return clocking;
    const double old_weight = 1 / (before.sigma * before.sigma);
    const double new_weight = 1 / (after.sigma * after.sigma);
    clocking.stored = false;
    clocking.e = (old_weight * before.value + new_weight * after.value) / (old_weight + new_weight);
    clocking.e_sigma = std::min(before.sigma, after.sigma);
    clocking.reference_mhz = a.back().reference_clock_mhz;
    return clocking;
}

std::vector<RunValue> values_of(const Points& points, const Clocking& clocking) {
    std::vector<RunValue> values;
    values.reserve(points.size());
    for (const RunPoint& point : points) values.push_back(clocking.value(point));
    return values;
}

double mean_square_error(const std::vector<RunValue>& values) {
    double sum = 0;
    for (const RunValue& value : values) sum += value.standard_error * value.standard_error;
    return sum / static_cast<double>(values.size());
}

// Spread of one value about its level from the steps between neighbours, which an old change of
// level does not widen.
double spread_from_steps(const std::vector<RunValue>& values, double class_prior) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < values.size(); ++i) {
        steps.push_back(values[i].log_time - values[i - 1].log_time);
    }
    const double sigma = steps.empty() ? 0 : stats::mad_sigma(steps) / std::numbers::sqrt2;
    const auto n = static_cast<double>(steps.size());
    return std::sqrt((class_weight * class_prior * class_prior + n * sigma * sigma) /
                         (class_weight + n) +
                     mean_square_error(values));
}

void group_by_environment(const Points& points, const std::vector<RunValue>& values,
                          std::vector<std::vector<RunValue>>& groups) {
    std::map<std::string, std::vector<RunValue>> by_hash;
    for (std::size_t i = 0; i < points.size(); ++i) {
        by_hash[points[i].environment_hash].push_back(values[i]);
    }
    for (auto& [hash, group] : by_hash) groups.push_back(std::move(group));
}

double mean_log_clock(const Points& points) {
    double sum = 0;
    for (const RunPoint& point : points) sum += std::log(point.clock_mhz());
    return sum / static_cast<double>(points.size());
}

// Variance of the centre of one side: runs among themselves and the samples within them. The Huber
// centre of three and more pays 5 % for its robustness.
double centre_variance(const std::vector<RunValue>& values, double run_sigma) {
    const auto n = static_cast<double>(values.size());
    const double one = run_sigma * run_sigma + mean_square_error(values);
    return one / n / (values.size() > 2 ? 0.95 : 1);
}

CaseTest undecided(std::string reason) {
    CaseTest test;
    test.change.verdict = Verdict::ambiguous;
    test.change.reason = std::move(reason);
    return test;
}

double timer_resolution(const Points& points, double time_ns) {
    double resolution = 0;
    for (const RunPoint& point : points) {
        for (const MeasurementRow* row : point.rows) {
            resolution = std::max(
                {resolution, row->quantum_ns / time_ns, floor_share * row->floor_ns / time_ns});
        }
    }
    return resolution;
}

}  // namespace

CaseTest test_case(const CaseRuns& reference, const CaseRuns& candidate,
                   const CompareOptions& options) {
    Points a = reference.points, b = candidate.points;
    const std::string method = b.back().method, old_method = a.back().method;
    std::erase_if(a, [&](const RunPoint& point) { return point.method != method; });
    std::erase_if(b, [&](const RunPoint& point) { return point.method != method; });
    if (a.empty()) {
        return undecided(
            fmt::format("measured by {} before and by {} now: the times of two "
                        "methods are not compared",
                        old_method, method));
    }
    const auto too_few = [&](const RunPoint& point) {
        return point.samples() < options.least_samples;
    };
    const int most = std::max_element(b.begin(), b.end(), [](const auto& x, const auto& y) {
                         return x.samples() < y.samples();
                     })->samples();
    std::erase_if(b, too_few);
    if (b.empty()) {
        return undecided(
            fmt::format("too few samples: {} of at least {}; give the case a larger "
                        "budget",
                        most, options.least_samples));
    }
    std::erase_if(a, too_few);
    if (a.empty()) return undecided("the reference has too few samples");

    const Clocking clocking = clocking_of(a, b);
    std::vector<RunValue> before = values_of(a, clocking);
    const std::vector<RunValue> after = values_of(b, clocking);
    const DeviceKind kind =
        b.back().rows.front()->device == "host" ? DeviceKind::host : DeviceKind::cuda;
    const double class_prior = class_sigma(kind, std::exp(after.back().log_time));
    if (options.reference_is_history) {
        const std::size_t level = latest_level(before, spread_from_steps(before, class_prior),
                                               std::log1p(options.least_effect));
        before.erase(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(level));
        a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(level));
    }

    std::vector<std::vector<RunValue>> groups;
    group_by_environment(a, before, groups);
    group_by_environment(b, after, groups);
    const RunNoise noise = run_noise(groups, class_prior);
    const auto spread = [&](const std::vector<RunValue>& values) {
        return std::hypot(noise.sigma, std::sqrt(mean_square_error(values)));
    };
    const double old_centre = robust_centre(before, spread(before));
    const double new_centre = robust_centre(after, spread(after));
    const double from_clock =
        clocking.stored ? 0 : clocking.e_sigma * (mean_log_clock(b) - mean_log_clock(a));
    const double error = std::sqrt(centre_variance(before, noise.sigma) +
                                   centre_variance(after, noise.sigma) + from_clock * from_clock);

    CaseTest test;
    Change& change = test.change;
    const double effect = new_centre - old_centre;
    const boost::math::students_t_distribution<double> t(noise.freedom);
    const double reach = boost::math::quantile(t, 0.975) * error;
    change.p = 2 * boost::math::cdf(boost::math::complement(t, std::fabs(effect) / error));
    change.ratio = Estimate{std::exp(effect), std::exp(effect - reach), std::exp(effect + reach)};
    change.run_sigma = noise.sigma;
    change.reference_ns = std::exp(old_centre);
    change.candidate_ns = std::exp(new_centre);
    change.reference_runs = static_cast<int>(a.size());
    change.candidate_runs = static_cast<int>(b.size());
    change.least_effect = std::max({options.least_effect, timer_resolution(a, change.reference_ns),
                                    timer_resolution(b, change.candidate_ns)});
    // Three times what two single runs of this class leave open.
    test.too_wide = 3 * normal_975 * std::numbers::sqrt2 * class_prior;
    return test;
}

}  // namespace etalon::gate
