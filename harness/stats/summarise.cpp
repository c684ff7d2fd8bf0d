// From the samples of a measurement to its figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/stats/stats.h"

namespace etalon::stats {

std::vector<double> normalised_durations(std::span<const Sample> samples, const Measurement& m,
                                         double reference_clock_mhz) {
    std::vector<double> times;
    times.reserve(samples.size());
    for (const Sample& sample : samples) {
        const bool clocked = sample.clock_mhz > 0 && m.elasticity && reference_clock_mhz > 0;
        times.push_back(clocked ? normalised_ns(sample, m.elasticity->value, reference_clock_mhz)
                                : sample.duration_ns);
    }
    return times;
}

void summarise(Measurement& m, std::span<const Sample> rested, double reference_clock_mhz,
               const ElasticityPrior& prior, int min_samples) {
    std::size_t valid = 0;
    for (const Sample& sample : m.samples) {
        if (!std::isfinite(sample.duration_ns) || sample.duration_ns <= 0) {
            throw device_error(fmt::format(
                "{}: sample {} of {} took {} ns; the timer cannot be right, measure it again",
                m.key.id(), valid + 1, m.samples.size(), sample.duration_ns));
        }
        if (!std::isfinite(sample.clock_mhz) || sample.clock_mhz < 0) {
            throw device_error(fmt::format(
                "{}: sample {} of {} ran at {} MHz; the clock probe cannot be right, measure it "
                "again",
                m.key.id(), valid + 1, m.samples.size(), sample.clock_mhz));
        }
        ++valid;
    }
    const std::size_t least = static_cast<std::size_t>(std::max(1, min_samples));
    if (valid < least) {
        throw device_error(
            fmt::format("{}: {} samples, at least {} are needed; give the case a larger budget",
                        m.key.id(), valid, least));
    }
    std::vector<double> durations, clocks;
    for (const Sample& sample : rested) {
        durations.push_back(sample.duration_ns);
        if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
    }
    m.time_ns = median_interval(durations);
    m.clock_mhz = clocks.empty() ? 0 : median(clocks);
    m.elasticity.reset();
    const bool clocked = std::any_of(m.samples.begin(), m.samples.end(),
                                     [](const Sample& sample) { return sample.clock_mhz > 0; });
    if (clocked) m.elasticity = elasticity(m.samples, prior);
    m.norm_time_ns =
        normalised_time(m.samples, m.elasticity.value_or(Estimate{}), reference_clock_mhz);
}

}  // namespace etalon::stats
