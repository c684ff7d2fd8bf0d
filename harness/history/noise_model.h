// The noise of one series about its level, and how well a level or a line explains some values.
//
// Model: x_t = level_t + r_t, with r_t = ρ·r_{t−1} + e_t within one level and fresh r at a change.
// The loss of an innovation is the biweight one, min((e/σ)², cap) (Fearnhead & Rigaill 2019,
// "Changepoint detection in the presence of outliers"): quadratic for ordinary nights, and a
// bounded price for a spike, so that a single night can never pay for a change of level.
#pragma once

#include <cstddef>
#include <span>

namespace etalon::history {

struct NoiseModel {
    double sigma = 1;  // of the innovations e
    double rho = 0;    // lag-1 autocorrelation of r, in [0, 1)
    double cap = 9;    // greatest loss of one value
};

// Scale s that makes the mean of min((x/s)², 9) what it is for a standard normal (Huber's proposal
// 2 with a redescending score). One value in nine must stray before it explodes: rarer ones are
// outliers, commoner ones (two modes) are noise and widen it. 0 when all are 0 or there are none.
[[nodiscard]] double robust_scale(std::span<const double> centred);

// level + rise · shape_i, fitted under the loss; `shape` runs from 0 to 1, or is empty for a level.
struct Fit {
    double level = 0, rise = 0;
    double cost = 0;  // sum of losses
    // Normal matrix of (level, rise) over the values that are no outliers, in units of 1 / σ².
    double ll = 0, lr = 0, rr = 0;
    [[nodiscard]] double at(double shape) const { return level + rise * shape; }
    // Variances in units of σ²; 0 where there is no rise.
    [[nodiscard]] double variance_at(double shape) const;
    [[nodiscard]] double rise_variance() const;
};
[[nodiscard]] Fit fit_level(std::span<const double> values, const NoiseModel& noise);
[[nodiscard]] Fit fit_rise(std::span<const double> values, std::span<const double> shape,
                           const NoiseModel& noise);

// Innovations of the values about a fit, in the units of the values.
void innovations(std::span<const double> values, std::span<const double> shape, const Fit& about,
                 const NoiseModel& noise, std::span<double> out);

}  // namespace etalon::history
