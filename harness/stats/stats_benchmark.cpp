// How long the statistics of one case take: they run between samples, so they must be nothing
// beside a launch, and the gate does thousands of bootstraps. Run by hand.
#include <benchmark/benchmark.h>

#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"

namespace {

using namespace etalon;

std::vector<Sample> samples_of(std::size_t n) {
    stats::Simulation random(1);
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < n; ++i) {
        const double clock = random.uniform(1450, 1950);
        samples.push_back({1e5 * 1980 / clock * (1 + 0.002 * random.normal()), clock});
    }
    return samples;
}

void median_interval(benchmark::State& state) {
    stats::Simulation random(1);
    const auto values = random.normals(static_cast<std::size_t>(state.range(0)), 100);
    for (auto _ : state) benchmark::DoNotOptimize(stats::median_interval(values));
}
BENCHMARK(median_interval)->Arg(15)->Arg(64)->Arg(1000);

void ratio_of_medians_1000_resamples(benchmark::State& state) {
    stats::Simulation random(1);
    const auto n = static_cast<std::size_t>(state.range(0));
    const auto a = random.normals(n, 100), b = random.normals(n, 100);
    for (auto _ : state) benchmark::DoNotOptimize(stats::ratio_of_medians(a, b, 7));
}
BENCHMARK(ratio_of_medians_1000_resamples)->Arg(15)->Arg(64)->Unit(benchmark::kMicrosecond);

void elasticity(benchmark::State& state) {
    const auto samples = samples_of(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(stats::elasticity(samples, {}));
}
BENCHMARK(elasticity)->Arg(15)->Arg(64)->Arg(1000)->Unit(benchmark::kMicrosecond);

void summarise(benchmark::State& state) {
    Measurement m;
    m.samples = samples_of(64);
    for (auto _ : state) {
        stats::summarise(m, 1980, {}, 15);
        benchmark::DoNotOptimize(m.norm_time_ns);
    }
}
BENCHMARK(summarise)->Unit(benchmark::kMicrosecond);

}  // namespace
