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
    if (copy.size() % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(copy.begin(), middle));
}

double shape_at(std::span<const double> shape, std::size_t i) {
    return shape.empty() ? 0 : shape[i];
}

double total_loss(std::span<const double> values, std::span<const double> shape,
                  const NoiseModel& noise, const Fit& about) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    double before = 0, cost = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double r = values[i] - about.at(shape_at(shape, i));
        const double e = (i == 0 ? r * first_weight : r - lag(before, noise)) / noise.sigma;
        cost += std::min(e * e, noise.cap);
        before = r;
    }
    return cost;
}

// One step of least squares over the values that are not outliers at the present fit.
Fit improved(std::span<const double> values, std::span<const double> shape, const NoiseModel& noise,
             const Fit& present) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    const double limit = noise.cap * noise.sigma * noise.sigma;
    Fit next = present;
    next.ll = next.lr = next.rr = 0;
    double le = 0, re = 0, before = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double s = shape_at(shape, i);
        const double r = values[i] - present.at(s);
        const double e = i == 0 ? r * first_weight : r - lag(before, noise);
        before = r;
        if (e * e >= limit) continue;
        const double l = i == 0 ? first_weight : 1 - noise.rho;
        const double t = i == 0 ? first_weight * s : s - noise.rho * shape_at(shape, i - 1);
        next.ll += l * l;
        next.lr += l * t;
        next.rr += t * t;
        le += l * e;
        re += t * e;
    }
    const double determinant = next.ll * next.rr - next.lr * next.lr;
    if (!shape.empty() && determinant > 1e-12 * next.ll * next.rr) {
        next.level += (next.rr * le - next.lr * re) / determinant;
        next.rise += (next.ll * re - next.lr * le) / determinant;
    } else if (next.ll > 0) {
        next.level += le / next.ll;
    }
    return next;
}

Fit descend(std::span<const double> values, std::span<const double> shape, const NoiseModel& noise,
            Fit start) {
    start.cost = total_loss(values, shape, noise, start);
    for (int step = 0; step < 20; ++step) {
        Fit next = improved(values, shape, noise, start);
        next.cost = total_loss(values, shape, noise, next);
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

double Fit::variance_at(double shape) const {
    const double determinant = ll * rr - lr * lr;
    if (determinant > 1e-12 * ll * rr) {
        return (rr - 2 * shape * lr + shape * shape * ll) / determinant;
    }
    return ll > 0 ? 1 / ll : 0;
}

double Fit::rise_variance() const {
    const double determinant = ll * rr - lr * lr;
    return determinant > 1e-12 * ll * rr ? ll / determinant : 0;
}

Fit fit_level(std::span<const double> values, const NoiseModel& noise) {
    Fit start;
    start.level = median_of(values);
    return descend(values, {}, noise, start);
}

Fit fit_rise(std::span<const double> values, std::span<const double> shape,
             const NoiseModel& noise) {
    // The loss is not convex: begin with the line through the medians of the low and the high
    // thirds of the shape, and come down in steps of σ (graduated non-convexity, Blake & Zisserman
    // 1987).
    std::vector<double> low, high, rest(values.size());
    double low_shape = 0, high_shape = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (shape[i] <= 0.34) {
            low.push_back(values[i]);
            low_shape += shape[i];
        } else if (shape[i] >= 0.66) {
            high.push_back(values[i]);
            high_shape += shape[i];
        }
    }
    Fit fit;
    if (!low.empty() && !high.empty()) {
        const double width = high_shape / static_cast<double>(high.size()) -
                             low_shape / static_cast<double>(low.size());
        fit.rise = (median_of(high) - median_of(low)) / width;
    }
    for (std::size_t i = 0; i < values.size(); ++i) rest[i] = values[i] - fit.rise * shape[i];
    fit.level = median_of(rest);
    for (const double widening : {9.0, 3.0, 1.0}) {
        NoiseModel wide = noise;
        wide.sigma *= widening;
        fit = descend(values, shape, wide, fit);
    }
    return fit;
}

void innovations(std::span<const double> values, std::span<const double> shape, const Fit& about,
                 const NoiseModel& noise, std::span<double> out) {
    const double first_weight = std::sqrt(1 - noise.rho * noise.rho);
    double before = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double r = values[i] - about.at(shape_at(shape, i));
        out[i] = i == 0 ? r * first_weight : r - lag(before, noise);
        before = r;
    }
}

}  // namespace etalon::history
