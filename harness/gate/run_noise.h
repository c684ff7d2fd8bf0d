// How much one run's value of a case differs from the next run's, when nothing changed.
//
// Every test of the gate stands on this figure and never on the spread of samples within a run
// alone: with equal spreads between and within, a test on samples calls half of all quiet nights a
// change. The figure comes from the case's own history, drawn towards what is usual for its class.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/core/case.h"

namespace etalon::gate {

// Usual relative standard deviation between runs (log scale) of the normalised time. Measured on an
// H200: 0.1 to 0.4 % for kernels over 20 µs; under that, the steps and drift of CUDA events take a
// growing share. A CPU core shares its caches and its memory with whatever else runs.
[[nodiscard]] double class_sigma(DeviceKind kind, double time_ns);

// The class speaks with the weight of this many runs when a case's own variance is formed ...
inline constexpr double class_weight = 6;
// ... and is itself known from many cases, so that the tail of the test is that of Student's t with
// at least this many degrees of freedom. Six alone would hide 3 % after one quiet reference run.
inline constexpr double class_freedom = 20;
// With fewer runs of one environment there is no history to speak of.
inline constexpr std::size_t least_history = 3;

struct RunNoise {
    double sigma = 0;    // between runs, log scale, without the sampling error within a run
    double freedom = 0;  // degrees of freedom of Student's t
};

// One run of a case: `log_time` with the standard error that its samples leave.
struct RunValue {
    double log_time = 0;
    double standard_error = 0;
};

// `groups`: runs of one environment each; only groups of least_history and more count. Robust
// against single spikes and against many equal values.
[[nodiscard]] RunNoise run_noise(std::span<const std::vector<RunValue>> groups, double class_prior);

// Location that a few outliers cannot move (Huber 1964, c = 1.5; 95 % efficient for normal data).
// `sigma` is the scale of one value. Throws std::invalid_argument when empty.
[[nodiscard]] double robust_centre(std::span<const RunValue> values, double sigma);

// Index at which the latest steady level begins: values in order of time; `sigma` is the spread of
// one value. A level has at least three values, so that a spike is none. The step that ends the
// search back must be past `least_step` and past 5 σ of its own error, since it is picked as the
// largest of many.
[[nodiscard]] std::size_t latest_level(std::span<const RunValue> values, double sigma,
                                       double least_step);

}  // namespace etalon::gate
