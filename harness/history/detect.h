// What happened to one series over all its nights: changes of level, drifts, spikes.
//
// Works on natural logs, one value a night, oldest first. Penalised likelihood (segmentation.h)
// under a noise model fitted to the series itself: its scale, how often it strays, and its lag-1
// autocorrelation, which is chosen together with the changes, since each can pass for the other
// (after asv's joint criterion; Yao 1988 for the penalised likelihood). The penalty is that of the
// largest of many tests at a rate of false points of one steady series in a hundred, and grows as
// Student's t does where the scale is known from few values. Stretches that a line explains better
// than their steps become drifts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/core/records.h"

namespace etalon::history {

// With fewer values nothing can be told apart from noise.
inline constexpr std::size_t least_values = 5;

struct DetectOptions {
    // Relative; smaller changes are not reported. Half of the gate's least effect, so that a change
    // of just that size is still seen when it measures a little less.
    double least_effect = 0.0025;
    // What is usual for such series, with the weight of that many values (0: nothing is known).
    double prior_sigma = 0;
    double prior_weight = 0;
};

struct ChangePoint {
    std::size_t at = 0;                    // index of the first value of the new level
    std::size_t earliest = 0, latest = 0;  // 95 % interval of `at`
    Estimate ratio;                        // new level / old level; over 1 is slower
};

// A trend of many small steps.
struct Drift {
    std::size_t first = 0, last = 0;  // indices of its first and last value
    Estimate ratio;                   // level at its end / level at its begin
    double per_value = 0;             // relative change from one value to the next
};

struct Detection {
    bool decidable = false;  // at least least_values
    std::vector<ChangePoint> points;
    std::vector<Drift> drifts;
    std::vector<std::size_t> outliers;  // single values that stand apart; never points
    bool last_stands_apart = false;     // the latest is one: the next night tells spike from change
    double sigma = 0;                   // of one value about its level, relative
    double rho = 0;                     // autocorrelation from one value to the next
    std::vector<double> fitted;         // log level at each value
};

// Throws std::invalid_argument for a value that is not finite.
[[nodiscard]] Detection detect(std::span<const double> log_times,
                               const DetectOptions& options = {});

}  // namespace etalon::history
