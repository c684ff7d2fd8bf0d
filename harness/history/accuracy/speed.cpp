#include "harness/history/accuracy/speed.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>

#include "harness/gate/gate.h"
#include "harness/history/cluster.h"
#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"
#include "harness/testing/scratch.h"

namespace etalon::accuracy {
namespace {

struct Took {
    double wall_s = 0, cpu_s = 0;
};

Took seconds(const std::function<void()>& work) {
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    work();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(),
            static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

double peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

Case case_of(int i) {
    Case key;
    key.problem = {
        "gemm", Precision::bf16,
        Axes({{.name = "m"}, {.name = "n"}}, {{"m", i % 100 + 1}, {"n", i / 100 + 1}}, "gemm")};
    key.provider = i % 2 == 0 ? "etalon" : "cublaslt";
    return key;
}

// One case in ten has a step of 3 % somewhere, so that the detector has something to do.
double level_ns(int i, int night) {
    const bool moved = i % 10 == 0 && night >= (i * 7) % 300 + 30;
    return (50e3 + 10 * i) * (moved ? 1.03 : 1);
}

void build(Store& store, const SpeedOptions& options) {
    stats::Simulation random(1);
    for (int night = 0; night < options.nights; ++night) {
        Environment environment;
        environment.device_kind = "cuda";
        environment.gpu = "NVIDIA H200";
        environment.driver = night < options.nights / 2 ? "580.95" : "590.10";
        environment.reference_clock_mhz = 1980;
        Run run;
        run.run_id = fmt::format("{:012x}00000000000000000000", 1000 + night);
        run.started_at = fmt::format("20{:02}-{:02}-{:02}T02:00:00.000Z", 20 + night / 336,
                                     1 + night / 28 % 12, 1 + night % 28);
        run.suite = "nightly";
        run.device = "cuda:0";
        run.revision = fmt::format("{:07x}", night);
        run.environment_hash = environment.hash();
        run.floor_ns = 1250;
        run.quantum_ns = 32;
        store.begin_run(environment, run, {});
        for (int i = 0; i < options.cases; ++i) {
            Measurement m;
            m.key = case_of(i);
            const double time = level_ns(i, night) * std::exp(0.003 * random.normal());
            for (int s = 0; s < 15; ++s) {
                const double clock = 1700 + 10 * random.normal();
                m.samples.push_back(
                    {time * 1980 / clock * std::exp(0.003 * random.normal()), clock});
            }
            m.norm_time_ns = Estimate{time, 0.999 * time, 1.001 * time};
            m.time_ns = Estimate{1.16 * time, 1.159 * time, 1.161 * time};
            m.elasticity = Estimate{1, 0.98, 1.02};
            m.clock_mhz = 1700;
            m.method = "cupti/1";
            m.stop_reason = "precision";
            m.distribution = "normal";
            m.description = R"({"algorithm":"0x1234","workspace_bytes":33554432})";
            m.measured_at = run.started_at;
            store.add(run.run_id, m);
        }
        store.end_run(run.run_id, RunState::finished, run.started_at);
    }
}

}  // namespace

std::vector<Timing> speed(const SpeedOptions& options) {
    const TemporaryFolder folder;
    const std::string path = options.keep.empty() ? folder.path("years.db") : options.keep;
    std::vector<Timing> all;
    if (!std::filesystem::exists(path)) {
        Store store = Store::open(path, Store::Mode::create);
        const Took took = seconds([&] { build(store, options); });
        all.push_back(
            {fmt::format("building the file ({} cases × {} nights)", options.cases, options.nights),
             "s", took.wall_s, std::numeric_limits<double>::infinity(), took.cpu_s});
    }
    const Store store = Store::open(path, Store::Mode::read);
    // The gate first: the memory of each is read after it, and only grows.
    gate::GateResult result;
    const Took gating = seconds([&] { result = gate::gate(store, {}); });
    all.push_back({"gate of the latest night", "s", gating.wall_s, 2, gating.cpu_s});
    all.push_back({"memory after the gate", "MiB", peak_mib(), 500});
    const Took one = seconds([&] {
        const NightValues values = store.night_values({}, {case_of(10).id()});
        (void)history::clusters_of(history::lines_of(values));
    });
    all.push_back({"history of one case", "ms", 1e3 * one.wall_s, 50, one.cpu_s});
    std::size_t findings = 0;
    const Took whole = seconds([&] {
        const NightValues values = store.night_values();
        findings = history::clusters_of(history::lines_of(values)).size();
    });
    all.push_back({fmt::format("history of all cases ({} findings)", findings), "s", whole.wall_s,
                   60, whole.cpu_s});
    all.push_back({"memory after all", "MiB", peak_mib(), 500});
    return all;
}

}  // namespace etalon::accuracy
