// Runs with a known truth, for tests: nights of one machine.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "harness/gate/run_set.h"
#include "harness/stats/simulation.h"
#include "harness/stats/stats.h"

namespace etalon::gate {

struct SimulatedCase {
    std::string op = "gemm";
    std::string provider = "etalon";
    int m = 1;
    double time_ns = 100e3;  // at the reference clock
    double e = 0.9;
    double run_sigma = 0.002;
    double sample_sigma = 0.003;
};

struct SimulatedNight {
    double clock_mhz = 1700;
    double factor = 1;  // on every case's time
    std::string driver = "580.95";
    std::string method = "events/1";
    int samples = 31;
    bool keep_samples = true;
};

class SimulatedMachine {
   public:
    static constexpr double reference_mhz = 1980;

    explicit SimulatedMachine(std::uint64_t seed) : random(seed) {}

    // One night's row of one case; `factor` multiplies its true time.
    MeasurementRow row(const SimulatedCase& c, const SimulatedNight& night, int number,
                       double factor = 1) {
        const Environment environment = environment_of(night);
        MeasurementRow row;
        row.run_id = fmt::format("run{:04}", number);
        row.started_at =
            fmt::format("2026-{:02}-{:02}T02:00:00.000Z", 1 + number / 28, 1 + number % 28);
        row.suite = "nightly";
        row.device = environment.device_kind == "host" ? "host" : "cuda:0";
        row.gpu = environment.gpu;
        row.driver = environment.driver;
        row.environment_hash = environment.hash();
        row.floor_ns = 1250;
        row.quantum_ns = 32;
        row.m.key.problem.op = c.op;
        row.m.key.problem.precision = Precision::bf16;
        row.m.key.problem.axes = Axes({{.name = "m"}}, {{"m", c.m}}, c.op);
        row.m.key.provider = c.provider;
        row.case_id = row.m.key.id();
        row.m.method = night.method;
        const double level =
            c.time_ns * factor * night.factor * std::exp(c.run_sigma * random.normal());
        for (int i = 0; i < night.samples; ++i) {
            const double clock = night.clock_mhz * (1 + 0.02 * random.normal());
            row.m.samples.push_back({level * std::pow(reference_mhz / clock, c.e) *
                                         std::exp(c.sample_sigma * random.normal()),
                                     clock});
        }
        row.sample_count = night.samples;
        stats::summarise(row.m, reference_mhz, {0.5, 0.5}, 1);
        if (!night.keep_samples) row.m.samples.clear();
        return row;
    }

    static Environment environment_of(const SimulatedNight& night) {
        Environment environment;
        environment.device_kind = "cuda";
        environment.gpu = "NVIDIA H200";
        environment.driver = night.driver;
        environment.reference_clock_mhz = reference_mhz;
        return environment;
    }

    void add(RunSet& set, const std::vector<SimulatedCase>& cases, const SimulatedNight& night,
             int number) {
        const Environment environment = environment_of(night);
        set.environments[environment.hash()] = environment;
        for (const SimulatedCase& c : cases) set.rows.push_back(row(c, night, number));
    }

    RunSet nights(const std::vector<SimulatedCase>& cases, const SimulatedNight& night, int first,
                  int count) {
        RunSet set;
        for (int i = 0; i < count; ++i) add(set, cases, night, first + i);
        return set;
    }

    stats::Simulation random;
};

inline std::vector<SimulatedCase> many_cases(int count, const SimulatedCase& like = {}) {
    std::vector<SimulatedCase> cases;
    for (int i = 0; i < count; ++i) {
        cases.push_back(like);
        cases.back().m = i + 1;
    }
    return cases;
}

// Stores one night of `many_cases(cases)` as a run tagged `night<number>`.
struct StoredNight {
    SimulatedNight night;
    int cases = 4;
    std::string suite = "nightly";
    bool finished = true;
    Status first = Status::ok;  // of the first case
};
inline void store_night(Store& store, SimulatedMachine& machine, int number,
                        const StoredNight& how = {}) {
    const Environment environment = SimulatedMachine::environment_of(how.night);
    Run run;
    run.suite = how.suite;
    run.device = "cuda:0";
    run.environment_hash = environment.hash();
    run.tag = fmt::format("night{}", number);
    run.floor_ns = 1250;
    run.quantum_ns = 32;
    std::vector<MeasurementRow> rows;
    std::vector<std::string> plan;
    for (const SimulatedCase& c : many_cases(how.cases)) {
        rows.push_back(machine.row(c, how.night, number));
        plan.push_back(rows.back().case_id);
    }
    if (how.first != Status::ok) {
        Measurement& m = rows.front().m;
        m.status = how.first;
        m.reason = "planted";
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
    }
    run.run_id = rows.front().run_id;
    run.started_at = rows.front().started_at;
    store.begin_run(environment, run, plan);
    for (const MeasurementRow& row : rows) store.add(run.run_id, row.m);
    if (how.finished) store.end_run(run.run_id, RunState::finished, run.started_at);
}

}  // namespace etalon::gate
