// gate_accuracy: how right the gate and the history are, by simulation with known answers.
//
// Prints Markdown; the last line is PASS or FAIL. Every run draws fresh data from the clock unless
// --seed is given. --quick ends within 40 seconds on two cores.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "harness/history/accuracy/history_accuracy.h"
#include "harness/history/accuracy/night_accuracy.h"
#include "harness/history/accuracy/speed.h"

namespace {

using namespace etalon::accuracy;

int report_speed(const SpeedOptions& options) {
    bool pass = true;
    fmt::print("| what | measured | goal | CPU, all cores |\n|---|---|---|---|\n");
    for (const Timing& timing : speed(options)) {
        const bool limited = timing.goal < 1e300;
        fmt::print("| {} | {:.3g} {} | {} | {} |\n", timing.what, timing.measured, timing.unit,
                   limited ? fmt::format("≤ {} {}", timing.goal, timing.unit) : "-",
                   timing.cpu_s > 0 ? fmt::format("{:.3g} s", timing.cpu_s) : "-");
        pass = pass && timing.measured <= timing.goal;
    }
    fmt::print("{}\n", pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}

int run(int argc, char** argv) {
    CLI::App app{"How right the gate and the history are, by simulation with known answers"};
    bool quick = false;
    auto seed = static_cast<std::uint64_t>(
        std::chrono::system_clock::now().time_since_epoch().count() / 1000);
    app.add_flag("--quick", quick, "Fewer trials: under 40 seconds on two cores");
    app.add_option("--seed", seed, "Of the generated data; else the clock")->type_name("N");
    bool only_speed = false;
    SpeedOptions speed_options;
    app.add_flag("--speed", only_speed, "Time and memory on a results file of years instead");
    app.add_option("--cases", speed_options.cases, "Of that file")->capture_default_str();
    app.add_option("--nights", speed_options.nights, "Of that file")->capture_default_str();
    app.add_option("--keep", speed_options.keep, "Make that file here if missing, and leave it")
        ->type_name("FILE");
    CLI11_PARSE(app, argc, argv);
    if (only_speed) return report_speed(speed_options);

    const auto began = std::chrono::steady_clock::now();
    std::vector<Check> checks;
    const auto take = [&](std::vector<Check> some) {
        checks.insert(checks.end(), some.begin(), some.end());
    };
    take(steady_series(seed, quick ? 2500 : 20000));
    take(step_of_one_percent(seed, quick ? 1000 : 5000));
    take(nights_of_a_thousand_cases(seed, quick ? 40 : 1000));
    take(one_percent_in_noise_of_one(seed, quick ? 300 : 2000));
    const Mixed clear = mixed_series(seed, quick ? 60 : 500, 3, true);
    take(clear.checks);
    fmt::print("{}\nChanges of at least 3 × noise:\n\n{}", markdown(checks), clear.table);
    if (!quick) {
        fmt::print("\nChanges of any size, down to a sixth of the noise:\n\n{}",
                   mixed_series(seed + 1, 500, 0, false).table);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const bool pass =
        std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.reached(); });
    fmt::print("\nseed {}, {:.0f} s\n{}\n", seed, took.count(), pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv);
}
