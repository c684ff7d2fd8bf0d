#include "harness/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <unordered_map>

#include "bench/libraries.h"
#include "harness/core/text.h"
#include "harness/core/version.h"
#include "harness/device/host/machine.h"
#include "harness/stats/stats.h"
#include "harness/sweep/ratios.h"

namespace etalon {
namespace {

using clock = std::chrono::steady_clock;

double since_s(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
}

// What a case will take: what it took last, or else the mean of those seen so far.
class Forecast {
   public:
    Forecast(const Store& store, const std::string& environment_hash) {
        for (auto& [id, ms] : store.wall_ms(environment_hash)) known_ms_[id] = ms;
    }
    void learn(double wall_ms) {
        total_ms_ += wall_ms;
        ++seen_;
    }
    template <typename Iterator>
    [[nodiscard]] double remaining_s(Iterator from, Iterator to) const {
        const double mean_ms = seen_ > 0 ? total_ms_ / seen_ : 500;
        double ms = 0;
        for (; from != to; ++from) {
            const auto found = known_ms_.find(*from);
            ms += found != known_ms_.end() ? found->second : mean_ms;
        }
        return ms / 1000;
    }

   private:
    std::unordered_map<std::string, double> known_ms_;
    double total_ms_ = 0;
    int seen_ = 0;
};

// Cases of one problem stand together, so that they are timed beside their baseline; problems keep
// their order.
std::vector<std::string> by_problem(const Registry& registry, const Device& device,
                                    const std::vector<std::string>& ids) {
    std::map<Problem, std::size_t> place;
    std::vector<std::vector<std::string>> problems;
    for (const std::string& id : ids) {
        const Problem problem = registry.parse_case(id, device.info().kind).problem;
        const auto [found, is_new] = place.try_emplace(problem, problems.size());
        if (is_new) problems.emplace_back();
        problems[found->second].push_back(id);
    }
    std::vector<std::string> ordered;
    for (const auto& group : problems) ordered.insert(ordered.end(), group.begin(), group.end());
    return ordered;
}

// The cases from `at` that are of one problem.
std::vector<Case> next_group(const Registry& registry, const Device& device,
                             const std::vector<std::string>& pending, std::size_t at) {
    std::vector<Case> group;
    for (; at < pending.size(); ++at) {
        Case key = registry.parse_case(pending[at], device.info().kind);
        if (!group.empty() && key.problem != group.front().problem) break;
        group.push_back(std::move(key));
    }
    return group;
}

void count(const Measurement& m, SweepResult& result) {
    switch (m.status) {
        case Status::ok:
            ++result.ok;
            break;
        case Status::unsupported:
            ++result.unsupported;
            break;
        case Status::failed:
            ++result.failed;
            break;
        case Status::incorrect:
            ++result.incorrect;
            break;
    }
    if (m.clock_mhz > 0) {
        result.clock_lo_mhz =
            result.clock_lo_mhz == 0 ? m.clock_mhz : std::min(result.clock_lo_mhz, m.clock_mhz);
        result.clock_hi_mhz = std::max(result.clock_hi_mhz, m.clock_mhz);
    }
    std::vector<double> clocks;
    for (const Sample& sample : m.samples) {
        if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
    }
    if (clocks.empty() || !m.elasticity) return;
    const double reach = stats::quantile(clocks, 0.95) / stats::quantile(clocks, 0.05);
    const double effect = std::pow(reach, m.elasticity->value) - 1;
    if (effect > result.raw_effect) {
        result.raw_effect = effect;
        result.raw_effect_case = m.key.id();
    }
}

}  // namespace

ExitCode exit_code(const SweepResult& result) {
    if (result.incorrect > 0) return ExitCode::regression;
    if (result.failed > 0) return ExitCode::device_failure;
    if (result.left > 0) return ExitCode::undecided;
    return ExitCode::ok;
}

Environment describe_environment(Device& device) {
    Environment environment = device.environment();
    environment.etalon_version = std::string(version());
    environment.method = method_version;
    add_library_versions(environment, device.info().kind);
    environment.extra["timer"] = device.timer();
    return environment;
}

std::string begin_sweep(Device& device, Store& store, const std::vector<Case>& cases,
                        const SweepOptions& options) {
    const Environment environment = describe_environment(device);
    const Device::TimerFloor floor = device.timer_floor();
    Run run;
    run.run_id = make_run_id();
    run.started_at = utc_now();
    run.suite = options.suite;
    run.device = device.info().id;
    run.revision = std::string(revision());
    run.host_name = host::read_machine().host_name;
    run.tag = options.tag;
    run.options = to_json(options);
    run.floor_ns = floor.floor_ns;
    run.quantum_ns = floor.quantum_ns;
    run.environment_hash = environment.hash();
    std::vector<std::string> plan;
    for (const Case& key : cases) plan.push_back(key.id());
    store.begin_run(environment, run, plan);
    return run.run_id;
}

SweepResult run_sweep(const Registry& registry, Device& device, Store& store,
                      const std::string& run_id, const SweepOptions& options,
                      const std::atomic<bool>& stop,
                      const std::function<void(const SweepEvent&)>& on_event) {
    const auto start = clock::now();
    SweepResult result;
    result.run_id = run_id;
    const std::vector<std::string> pending = by_problem(registry, device, store.pending(run_id));
    const std::size_t total = store.plan(run_id).size();
    for (const MeasurementRow& row : store.measurements(run_id)) count(row.m, result);

    Forecast forecast(store, store.run(run_id).environment_hash);
    MeasureOptions measure = options.measure;
    measure.quantum_ns = store.run(run_id).quantum_ns;
    CaseRunner runner(registry, device, measure);
    if (!options.choose_again) {
        const std::string& here = store.run(run_id).environment_hash;
        runner.remember(store.descriptions(store.environment(here)));
    }
    const double busy_before_ns = device.busy_ns();
    std::size_t at = 0;
    const auto report = [&](const Measurement* measurement) {
        on_event({total - pending.size() + at, total, measurement,
                  at < pending.size() ? pending[at] : "", since_s(start),
                  forecast.remaining_s(pending.begin() + static_cast<std::ptrdiff_t>(at),
                                       pending.end())});
    };
    report(nullptr);
    while (at < pending.size()) {
        if (stop.load()) {
            result.why_left = "interrupted";
            break;
        }
        if (options.budget_s && since_s(start) >= *options.budget_s) {
            result.why_left = "budget spent";
            break;
        }
        const CaseRunner::Group group = runner.run(next_group(registry, device, pending, at));
        const auto storing = clock::now();
        for (const Measurement& m : group.measurements) {
            store.add(run_id, m);
            count(m, result);
            forecast.learn(m.wall_ms);
            ++at;
            report(&m);
        }
        for (const Ratio& ratio : group.ratios) store.add(run_id, ratio);
        result.store_s += since_s(storing);
        if (!device.usable()) {
            result.device_lost = true;
            if (at < pending.size()) result.why_left = "device lost";
            break;
        }
    }
    add_ratios(registry, device.info().kind, store, run_id);
    result.left = pending.size() - at;
    result.state = result.left == 0 ? RunState::finished : RunState::interrupted;
    store.end_run(run_id, result.state, utc_now());
    result.wall_s = since_s(start);
    result.busy_s = (device.busy_ns() - busy_before_ns) / 1e9;
    result.prepare_s = runner.spent().prepare_ms / 1000;
    result.check_s = runner.spent().check_ms / 1000;
    result.time_s = runner.spent().time_ms / 1000;
    return result;
}

}  // namespace etalon
