// How long `etalon cost` takes for 8 models × 3 precisions × 8 batches × 4 contexts from a results
// file of 200 000 measurements. The bound is 1 s for all of it: reading, arranging, composing.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cost/render.h"
#include "harness/cost/synthetic_kernels.h"
#include "harness/testing/scratch.h"

namespace etalon::cost {
namespace {

Grid large_grid() {
    Grid grid;
    for (const char* name : {"llama-3.1-8b", "llama-3.1-70b", "qwen3-8b", "qwen3-32b",
                             "qwen3-30b-a3b", "mixtral-8x7b", "gpt-oss-20b", "mistral-7b-v0.3"}) {
        grid.models.push_back(load_model(name));
    }
    grid.precisions = {Precision::bf16, Precision::fp8, Precision::int8};
    grid.tp = {8};
    grid.batches = {1, 2, 4, 8, 16, 32, 64, 128};
    grid.isl = {512, 1024, 4096, 8192};
    grid.osl = {512};
    return grid;
}

// What the grid needs, night after night, until there are `count` measurements.
void fill(const std::string& path, std::size_t count) {
    const KernelSet set = synthetic_kernels(large_grid());
    Store store = Store::open(path, Store::Mode::create);
    Environment environment;
    environment.device_kind = "cuda";
    environment.gpu = set.gpu;
    environment.memory_bytes = 150'000'000'000;
    std::size_t made = 0;
    for (int night = 0; made < count; ++night) {
        Run run;
        run.run_id = fmt::format("night-{:04}", night);
        run.started_at =
            fmt::format("2026-{:02}-{:02}T00:00:00.000Z", 1 + night / 28, 1 + night % 28);
        run.suite = "llm";
        run.device = "cuda:0";
        run.options = "{}";
        std::vector<Measurement> all;
        for (const Kernel& kernel : set.kernels) {
            if (made++ == count) break;
            std::vector<AxisSpec> specs;
            for (const Axis& axis : kernel.axes) specs.push_back({.name = axis.name, .min = 0});
            Measurement m;
            m.key = {{kernel.op, kernel.precision, Axes(specs, kernel.axes, kernel.op)},
                     kernel.provider,
                     "",
                     L2Mode::cold};
            m.samples.assign(15, {kernel.time_ns.value, 1800});
            m.time_ns = kernel.time_ns;
            m.norm_time_ns = kernel.time_ns;
            all.push_back(std::move(m));
        }
        store.begin_run(environment, run, {});
        store.add(run.run_id, all);
        store.end_run(run.run_id, RunState::finished, run.started_at);
    }
}

void whole_table(benchmark::State& state) {
    const TemporaryFolder folder;
    const std::string path = folder.path("results.db");
    fill(path, static_cast<std::size_t>(state.range(0)));
    const Grid grid = large_grid();
    std::size_t rows = 0, missing = 0;
    for (auto _ : state) {
        const Store store = Store::open(path, Store::Mode::read);
        const auto sets = load_kernels(store, path, {}, {});
        const CostTable table =
            build_table(grid, sets, shipped_cards(), {.tpot_ms = 50}, fixed_price(2.9));
        benchmark::DoNotOptimize(render(table, Format::json, ""));
        rows = table.rows.size();
        missing = table.missing.size();
    }
    state.counters["rows"] = static_cast<double>(rows);
    state.counters["missing"] = static_cast<double>(missing);
}
BENCHMARK(whole_table)->Arg(200'000)->Unit(benchmark::kMillisecond)->UseRealTime();

// Every lookup between shapes: the published tables, with no shape of the models among them.
void borrowed_table(benchmark::State& state) {
    KernelSet set{.gpu = "NVIDIA H200"};
    const auto add = [&](const char* name, Precision precision, std::vector<Axis> axes) {
        Operator each{.op = name, .precision = precision, .axes = std::move(axes)};
        const LeastWork work = least_work(*find_op(name), precision, each.axes);
        each.flop = work.flop;
        each.bytes = work.bytes;
        set.kernels.push_back(synthetic_kernel(each, 0.7));
    };
    for (const std::int64_t m : {1, 3, 9, 27, 81, 243, 729, 2187, 6561})
        for (std::int64_t n = 243; n < 200000; n = n * 3 / 2)
            for (std::int64_t k = 243; k < 70000; k = k * 3 / 2)
                for (const Precision p : {Precision::bf16, Precision::fp8, Precision::int8}) {
                    add(op::gemm, p, {{"m", m}, {"n", n}, {"k", k}});
                }
    const Grid grid = large_grid();
    const std::vector<Card> cards = shipped_cards();
    for (auto _ : state) {
        benchmark::DoNotOptimize(build_table(grid, {set}, cards, {}, fixed_price(2.9)));
    }
    state.counters["kernels"] = static_cast<double>(set.kernels.size());
}
BENCHMARK(borrowed_table)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace etalon::cost
