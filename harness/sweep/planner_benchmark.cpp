// Run by hand: how long it takes to plan a sweep.

#include <benchmark/benchmark.h>

#include "harness/sweep/suite.h"

namespace etalon {
namespace {

// Reads a suite's TOML, expands its grids and checks every case.
void plan(benchmark::State& state, const char* suite, DeviceKind kind) {
    const Registry registry = builtin_registry();
    std::size_t cases = 0;
    for (auto _ : state) cases = load_suite(suite, registry, kind).cases.size();
    state.counters["cases"] = static_cast<double>(cases);
    state.counters["cases_per_second"] = benchmark::Counter(
        static_cast<double>(cases), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(plan, nightly_cuda, "nightly", DeviceKind::cuda)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, full_cuda, "full", DeviceKind::cuda)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(plan, nightly_host, "nightly", DeviceKind::host)->Unit(benchmark::kMillisecond);

// A case id to a checked case.
void parse_case(benchmark::State& state) {
    const Registry registry = builtin_registry();
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            registry.parse_case("gemm/fp32/m=4096,n=4096,k=4096/etalon/cold", DeviceKind::host));
    }
}
BENCHMARK(parse_case);

}  // namespace
}  // namespace etalon
