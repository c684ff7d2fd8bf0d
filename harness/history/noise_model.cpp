#include "harness/history/noise_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace etalon::history {
namespace {

constexpr double scale_cap = 9;
constexpr double normal_mean_loss = 0.995007;  // E min(z², 9), z standard normal

// The residual before, drawn in so that a spike spoils its own night only.
double lag(double residual, const NoiseModel& noise) {
    const double reach = 3 * noise.sigma;
    return noise.rho * std::clamp(residual, -reach, reach);
}

double median_of(std::span<const double> values) {
    std::vector<double> copy(values.begin(), values.end());
    const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
    std::nth_element(copy.begin(), middle, copy.end());
    return *middle;
}

double total_loss(std::span<const double> values, const NoiseModel& noise, const Fit& about) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    double before = 0, cost = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double r = values[i] - about.at(i, values.size());
        const double e = (i == 0 ? r * first_weight : r - lag(before, noise)) / noise.sigma;
        cost += std::min(e * e, noise.cap);
        before = r;
    }
    return cost;
}

// One step of weighted least squares over the values that are not outliers at the present fit.
Fit improved(std::span<const double> values, const NoiseModel& noise, const Fit& present,
             Shape shape) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    double bb = 0, bt = 0, tt = 0, be = 0, te = 0;
    double before = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double u = static_cast<double>(i) - 0.5 * static_cast<double>(values.size() - 1);
        const double r = values[i] - present.at(i, values.size());
        const double e = i == 0 ? r * first_weight : r - lag(before, noise);
        before = r;
        if (e * e >= noise.cap * noise.sigma * noise.sigma) continue;
        const double b = i == 0 ? first_weight : 1 - noise.rho;
        const double t = i == 0 ? first_weight * u : u - noise.rho * (u - 1);
        bb += b * b;
        bt += b * t;
        tt += t * t;
        be += b * e;
        te += t * e;
    }
    Fit next = present;
    next.information = bb;
    if (shape == Shape::level) {
        if (bb > 0) next.level += be / bb;
        return next;
    }
    const double determinant = bb * tt - bt * bt;
    if (determinant <= 1e-12 * bb * tt || determinant <= 0) return next;
    next.level += (tt * be - bt * te) / determinant;
    next.slope += (bb * te - bt * be) / determinant;
    next.information = determinant / tt;
    next.slope_information = determinant / bb;
    return next;
}

Fit descend(std::span<const double> values, const NoiseModel& noise, Fit start, Shape shape) {
    start.cost = total_loss(values, noise, start);
    for (int step = 0; step < 20; ++step) {
        Fit next = improved(values, noise, start, shape);
        next.cost = total_loss(values, noise, next);
        const bool done = !(next.cost < start.cost - 1e-9);
        if (next.cost <= start.cost + 1e-9) start = next;
        if (done) break;
    }
    return start;
}

}  // namespace

double robust_scale(std::span<const double> centred) {
    double most = 0, squares = 0;
    for (const double x : centred) {
        most = std::max(most, std::fabs(x));
        squares += x * x;
    }
    if (!(most > 0)) return 0;
    const auto n = static_cast<double>(centred.size());
    // Monotone in s: the plain root mean square is an upper bound, and Newton-like steps of the
    // fixed point go down to the root.
    double s = std::sqrt(squares / (n * normal_mean_loss));
    for (int step = 0; step < 60; ++step) {
        double sum = 0;
        for (const double x : centred) sum += std::min(x * x, scale_cap * s * s);
        const double next = std::sqrt(sum / (n * normal_mean_loss));
        if (next > s * (1 - 1e-6)) break;
        s = next;
    }
    return s;
}

Fit fit(std::span<const double> values, const NoiseModel& noise, Shape shape) {
    Fit start;
    start.level = median_of(values);
    if (shape == Shape::level || values.size() < 3) {
        return descend(values, noise, start, Shape::level);
    }
    // The loss is not convex: begin at the level, and at the line through the medians of both
    // thirds, come down in steps of σ (graduated non-convexity, Blake & Zisserman 1987), and keep
    // the better end.
    const std::size_t third = std::max<std::size_t>(1, values.size() / 3);
    const double low = median_of(values.first(third)), high = median_of(values.last(third));
    Fit steep;
    steep.slope = (high - low) / static_cast<double>(values.size() - third);
    std::vector<double> rest(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        rest[i] = values[i] - steep.at(i, values.size());
    steep.level = median_of(rest);
    for (const double widening : {9.0, 3.0}) {
        NoiseModel wide = noise;
        wide.sigma *= widening;
        steep = descend(values, wide, steep, Shape::line);
    }
    const Fit a = descend(values, noise, start, Shape::line);
    const Fit b = descend(values, noise, steep, Shape::line);
    return b.cost < a.cost ? b : a;
}

void innovations(std::span<const double> values, const NoiseModel& noise, const Fit& about,
                 std::span<double> out) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    double before = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double r = values[i] - about.at(i, values.size());
        out[i] = i == 0 ? r * first_weight : r - lag(before, noise);
        before = r;
    }
}

}  // namespace etalon::history
