// From the samples of a measurement to its figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/stats/stats.h"

namespace etalon::stats {

void summarise(Measurement& m, double reference_clock_mhz, const ElasticityPrior& prior,
               int min_samples) {
    std::vector<double> durations, clocks;
    for (const Sample& sample : m.samples) {
        if (!std::isfinite(sample.duration_ns) || sample.duration_ns <= 0) {
            throw device_error(fmt::format(
                "{}: sample {} of {} took {} ns; the timer cannot be right, measure it again",
                m.key.id(), durations.size() + 1, m.samples.size(), sample.duration_ns));
        }
        if (!std::isfinite(sample.clock_mhz) || sample.clock_mhz < 0) {
            throw device_error(fmt::format(
                "{}: sample {} of {} ran at {} MHz; the clock probe cannot be right, measure it "
                "again",
                m.key.id(), durations.size() + 1, m.samples.size(), sample.clock_mhz));
        }
        durations.push_back(sample.duration_ns);
        if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
    }
    const std::size_t least = static_cast<std::size_t>(std::max(1, min_samples));
    if (durations.size() < least) {
        throw device_error(
            fmt::format("{}: {} samples, at least {} are needed; give the case a larger budget",
                        m.key.id(), durations.size(), least));
    }
    m.time_ns = median_interval(durations);
    m.clock_mhz = clocks.empty() ? 0 : median(clocks);
    m.elasticity.reset();
    if (!clocks.empty()) m.elasticity = elasticity(m.samples, prior);
    m.norm_time_ns =
        normalised_time(m.samples, m.elasticity.value_or(Estimate{}), reference_clock_mhz);
}

}  // namespace etalon::stats
