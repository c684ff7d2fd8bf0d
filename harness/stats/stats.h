// Statistics on samples. No CUDA, no I/O. Every function states its source; each is tested against
// a closed form or simulated data with a known answer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/core/records.h"

namespace etalon::stats {

// Linear-interpolation quantile (Hyndman & Fan 1996, type 7). q in [0, 1]; values need not be
// sorted; throws std::invalid_argument when empty.
[[nodiscard]] double quantile(std::span<const double> values, double q);
[[nodiscard]] double median(std::span<const double> values);
// 1.4826 · median |x − median|: consistent with σ for normal data.
[[nodiscard]] double mad_sigma(std::span<const double> values);

// Distribution-free interval of the median from order statistics (binomial, e.g. David & Nagaraja
// 2003, 7.1), `confidence` two-sided. With too few values for the confidence asked: min and max.
[[nodiscard]] Estimate median_interval(std::span<const double> values, double confidence = 0.95);

// Bootstrap (percentile) interval of median(a) / median(b). Deterministic for a seed.
[[nodiscard]] Estimate ratio_of_medians(std::span<const double> a, std::span<const double> b,
                                        std::uint64_t seed, int resamples = 1000,
                                        double confidence = 0.95);

// Geometric mean with its interval from a t distribution on the logs. A single value has no
// spread to judge by: its interval is the value. Throws std::invalid_argument when empty or when a
// value is not positive.
[[nodiscard]] Estimate geometric_mean(std::span<const double> values, double confidence = 0.95);

// Clock elasticity: slope −e of log t on log f (method.md, fact 3), by a robust regression,
// combined with a normal prior (mean, sigma) by precision weighting, so that with no spread in f
// the answer is the prior. The interval is 95 %.
struct ElasticityPrior {
    double mean = 0.5;
    double sigma = 0.5;
};
[[nodiscard]] Estimate elasticity(std::span<const Sample> samples, const ElasticityPrior& prior);

// t·(f/f_ref)^e; the sample's clock and f_ref are positive.
[[nodiscard]] double normalised_ns(const Sample& sample, double elasticity,
                                   double reference_clock_mhz);

// Median of t·(f/f_ref)^e over samples, with the interval of the median widened by the standard
// error of e times |log(median f / f_ref)|. Samples whose clock is 0 are left out; with none left
// the raw median interval is returned.
[[nodiscard]] Estimate normalised_time(std::span<const Sample> samples, const Estimate& elasticity,
                                       double reference_clock_mhz);

// The samples' durations at the reference clock; as they are where a clock or the elasticity is not
// known.
[[nodiscard]] std::vector<double> normalised_durations(std::span<const Sample> samples,
                                                       const Measurement& m,
                                                       double reference_clock_mhz);

// Fills norm_time_ns and elasticity of `m` from m.samples, time_ns and clock_mhz from those of them
// that were taken at rest: a median over two clocks would be the time of neither. Throws a device
// Error for fewer than `min_samples` valid ones, NaN, Inf or non-positive durations. Where no
// sample has a clock, elasticity is left empty and norm_time_ns is of the raw durations.
void summarise(Measurement& m, std::span<const Sample> rested, double reference_clock_mhz,
               const ElasticityPrior& prior, int min_samples);
// All were taken at rest.
inline void summarise(Measurement& m, double reference_clock_mhz, const ElasticityPrior& prior,
                      int min_samples) {
    summarise(m, m.samples, reference_clock_mhz, prior, min_samples);
}

}  // namespace etalon::stats
