// How fast measurements go into a results file, and how many bytes each takes there.
//
//   build/release/harness/store/store_benchmark [--benchmark_filter=...]
//
// Values are as a nightly sweep makes them: durations in the 32 ns steps of the GPU's timer around
// a time that follows the clock, clocks wandering over 1200..1980 MHz in steps of 0.1, intervals
// with all their digits, one provider description a case. The file is on the disk of $TMPDIR or
// /tmp; each add() is a commit.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "harness/store/samples_codec.h"
#include "harness/store/store.h"
#include "harness/store/store_impl.h"
#include "harness/testing/scratch.h"

namespace etalon {
namespace {

constexpr int samples_each = 64;
constexpr int cases = 400;  // about the nightly suite

class Generator {
   public:
    Measurement operator()(int index) {
        Measurement m;
        const int at = index % cases;
        m.key =
            store::parse_stored_case(fmt::format("gemm/bf16/m={},n={},k={}/{}/cold", 64 + at, 4096,
                                                 14336, at % 2 == 0 ? "cublaslt" : "etalon"));
        const double elasticity = (at % 10) / 10.0;
        const double time_ns = 3000 * std::pow(1.02, at);
        double clock = uniform(1200, 1980);
        for (int i = 0; i < samples_each; ++i) {
            // Blocks after rest and blocks kept hot, with the clock's own wander.
            if (i % 16 == 0) clock = uniform(1200, 1980);
            clock = std::clamp(clock + normal() * 8, 1200.0, 1980.0);
            const double t = time_ns * std::pow(1980 / clock, elasticity) * (1 + 0.003 * normal());
            m.samples.push_back({std::round(t / 32) * 32, std::round(clock * 10) / 10});
        }
        const auto estimate = [&](double value) {
            return Estimate{value, value * (1 - 0.002 * uniform(0.5, 1)),
                            value * (1 + 0.002 * uniform(0.5, 1))};
        };
        m.time_ns = estimate(m.samples[samples_each / 2].duration_ns + 16);
        m.norm_time_ns = estimate(time_ns * uniform(0.99, 1.01));
        m.elasticity = estimate(uniform(0.01, 1));
        m.clock_mhz = uniform(1200, 1980);
        m.flop = 2.0 * (64 + at) * 4096 * 14336;
        m.bytes_min = 2.0 * ((64.0 + at) * 14336 + 4096.0 * 14336 + (64.0 + at) * 4096);
        m.conditions = {.power_w = std::round(uniform(100, 700) * 1000) / 1000,
                        .temperature_c = std::round(uniform(30, 70)),
                        .reported_clock_mhz = 1980,
                        .memory_clock_mhz = 3201,
                        .event_reasons = 4,
                        .other_processes = 0,
                        .ecc_errors = 0};
        m.method = "cupti/1";
        m.stop_reason = at % 3 == 0 ? "budget" : "precision";
        m.description = fmt::format(
            R"({{"algorithm":"{:032x}","workspace_bytes":33554432,"tile":{},"kernels":)"
            R"(["sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2"]}})",
            0x9e3779b97f4a7c15ULL * static_cast<unsigned>(at + 1), at % 7);
        m.distribution = "normal";
        m.seed = random_();
        m.error = uniform(1e-4, 1e-2);
        m.wall_ms = uniform(100, 400);
        m.measured_at = fmt::format("2026-12-01T{:02}:{:02}:{:02}.{:03}Z", index / 3600 % 24,
                                    index / 60 % 60, index % 60, index % 1000);
        return m;
    }

   private:
    double uniform(double lo, double hi) {
        return std::uniform_real_distribution<double>(lo, hi)(random_);
    }
    double normal() { return normal_(random_); }
    std::mt19937_64 random_{1};
    std::normal_distribution<double> normal_;
};

std::vector<Measurement> make(int count) {
    Generator generate;
    std::vector<Measurement> all;
    for (int i = 0; i < count; ++i) all.push_back(generate(i));
    return all;
}

// One run of `range` measurements; the last checkpoint, at close, is part of the time.
void add_measurements(benchmark::State& state) {
    const std::vector<Measurement> all = make(static_cast<int>(state.range(0)));
    std::vector<std::string> plan;
    for (int i = 0; i < std::min<int>(cases, static_cast<int>(all.size())); ++i) {
        plan.push_back(all[static_cast<std::size_t>(i)].key.id());
    }
    std::uintmax_t bytes = 0;
    for (auto _ : state) {
        state.PauseTiming();
        const TemporaryFolder folder;
        const std::string path = folder.path("results.db");
        Run run;
        run.run_id = make_run_id();
        auto file = std::make_unique<Store>(Store::open(path, Store::Mode::create));
        file->begin_run(Environment{}, run, plan);
        state.ResumeTiming();
        for (const Measurement& m : all) file->add(run.run_id, m);
        file.reset();
        state.PauseTiming();
        bytes = std::filesystem::file_size(path);
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["bytes_per_measurement"] =
        static_cast<double>(bytes) / static_cast<double>(all.size());
}
BENCHMARK(add_measurements)->Arg(1'000)->Arg(20'000)->Unit(benchmark::kMillisecond)->UseRealTime();

void encode(benchmark::State& state) {
    const std::vector<Measurement> all = make(cases);
    store::SamplesEncoder encoder;
    std::size_t at = 0;
    std::size_t bytes = 0;
    for (auto _ : state) bytes += encoder.encode(all[at++ % all.size()].samples).size();
    state.SetItemsProcessed(state.iterations());
    state.counters["bytes"] =
        benchmark::Counter(static_cast<double>(bytes), benchmark::Counter::kAvgIterations);
}
BENCHMARK(encode);

void decode(benchmark::State& state) {
    store::SamplesEncoder encoder;
    const std::string blob(encoder.encode(make(1).front().samples));
    for (auto _ : state) benchmark::DoNotOptimize(store::decode_samples(blob));
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(decode);

void read_run(benchmark::State& state) {
    const TemporaryFolder folder;
    const std::string path = folder.path("results.db");
    Run run;
    run.run_id = make_run_id();
    Store file = Store::open(path, Store::Mode::create);
    file.begin_run(Environment{}, run, {});
    for (const Measurement& m : make(cases)) file.add(run.run_id, m);
    for (auto _ : state) benchmark::DoNotOptimize(file.measurements(run.run_id));
    state.SetItemsProcessed(state.iterations() * cases);
}
BENCHMARK(read_run)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace etalon
