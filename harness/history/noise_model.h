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

// A level, or a line through the middle of the values, fitted under the loss.
struct Fit {
    double level = 0;        // at the middle of the values
    double slope = 0;        // a value
    double cost = 0;         // sum of losses
    double information = 0;  // 1 / variance of `level` in units of σ²
    double slope_information = 0;
    [[nodiscard]] double at(std::size_t index, std::size_t size) const {
        return level + slope * (static_cast<double>(index) - 0.5 * static_cast<double>(size - 1));
    }
};
enum class Shape { level, line };
[[nodiscard]] Fit fit(std::span<const double> values, const NoiseModel& noise, Shape shape);

// Innovations of the values about a fit, in the units of the values.
void innovations(std::span<const double> values, const NoiseModel& noise, const Fit& about,
                 std::span<double> out);

}  // namespace etalon::history
