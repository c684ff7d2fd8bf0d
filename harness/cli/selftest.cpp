// etalon selftest: does normalising by the clock work on this machine?

#include "harness/measure/selftest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/measure/case_runner.h"
#include "harness/options/device_option.h"
#include "harness/report/text.h"
#include "harness/sweep/sweep.h"

namespace etalon::cli {
namespace {

using nlohmann::json;

struct Options {
    std::string device = "auto", timer = "auto";
    selftest::Plan plan;
    bool json = false;
};

json row_json(const selftest::Row& row) {
    return {{"case_id", row.case_id},
            {"what", row.what},
            {"elasticity", report::interval(row.elasticity)},
            {"cool_ns", report::number(row.cool_ns)},
            {"hot_ns", report::number(row.hot_ns)},
            {"cool_clock_mhz", report::number(row.cool_clock_mhz)},
            {"hot_clock_mhz", report::number(row.hot_clock_mhz)},
            {"raw_gap", report::number(row.raw_gap)},
            {"norm_gap", report::number(row.norm_gap)},
            {"raw_cv", report::number(row.raw_cv)},
            {"norm_cv", report::number(row.norm_cv)},
            {"allowed", row.allowed},
            {"trusted", row.trusted()}};
}

void print_row(const selftest::Row& row) {
    fmt::print(
        "{:<15} {:>9} {:>9} {:>6.0f} {:>6.0f} {:>6.2f} {:>8.2f} % {:>7.2f} % {:>6.1f} %  {}\n",
        row.what, report::time_text(row.cool_ns), report::time_text(row.hot_ns), row.cool_clock_mhz,
        row.hot_clock_mhz, row.elasticity.value, 100 * row.raw_gap, 100 * row.norm_gap,
        100 * row.allowed, row.trusted() ? "trusted" : "NOT trusted");
}

json injection_json(const selftest::Injection& injection) {
    return {{"put", injection.put},
            {"paired", report::interval(injection.paired)},
            {"across", report::number(injection.across)},
            {"raw_across", report::number(injection.raw_across)},
            {"allowed", injection.allowed},
            {"seen", injection.seen()}};
}

void print_injection(const selftest::Injection& injection, bool heated) {
    fmt::print("\n{:.0f} % more work: neighbouring blocks see {:+.2f} % ({:+.2f} to {:+.2f})",
               100 * injection.put, 100 * injection.paired.value, 100 * injection.paired.lo,
               100 * injection.paired.hi);
    if (heated) {
        fmt::print("; under load against at rest {:+.2f} %, raw {:+.2f} %", 100 * injection.across,
                   100 * injection.raw_across);
    }
    fmt::print("; allowed ±{:.1f} %: {}\n", 100 * injection.allowed,
               injection.seen() ? "seen" : "NOT seen");
}

void run(const Options& options, Context& context) {
    const Registry registry = builtin_registry();
    const std::unique_ptr<Device> device = open_device(options.device, parse_timer(options.timer));
    const DeviceKind kind = device->info().kind;
    const Environment environment = describe_environment(*device);
    CaseRunner runner(registry, *device, {});
    if (!options.json) {
        fmt::print("{}, timed by {}; {} blocks of {} launches, {}\n\n", device->info().name,
                   device->timer(), options.plan.blocks, options.plan.samples,
                   device->can_heat() ? "half of them at rest, half under load"
                                      : "this device cannot be heated: odd against even blocks");
        fmt::print("{:<15} {:>9} {:>9} {:>6} {:>6} {:>6} {:>10} {:>9} {:>8}\n", "", "cool", "hot",
                   "MHz", "MHz", "e", "raw gap", "norm gap", "allowed");
    }
    json rows = json::array();
    int trusted = 0, all = 0;
    for (const selftest::Subject& subject : selftest::subjects(kind)) {
        const Case key = registry.parse_case(subject.case_id, kind);
        PreparedCase prepared = runner.prepare(key);
        if (const std::string wrong = prepared.check(); !wrong.empty()) {
            throw Error(ExitCode::regression, fmt::format("{}: {}", subject.case_id, wrong));
        }
        const std::vector<selftest::LoadBlock> blocks =
            selftest::measure(*device, prepared, options.plan);
        const stats::ElasticityPrior prior{
            registry.op(key.problem.op).prior_elasticity(key.problem), 0.25};
        selftest::Row row = selftest::judge(blocks, prior, environment.reference_clock_mhz);
        row.case_id = subject.case_id;
        row.what = subject.what;
        row.allowed = selftest::allowed_gap(row.cool_ns, kind);
        ++all;
        trusted += row.trusted() ? 1 : 0;
        rows.push_back(row_json(row));
        if (!options.json) print_row(row);
    }
    const selftest::Injection injection =
        selftest::inject(*device, options.plan, environment.reference_clock_mhz);
    ++all;
    trusted += injection.seen() ? 1 : 0;
    if (!options.json) print_injection(injection, device->can_heat());
    context.exit = trusted == all ? ExitCode::ok : ExitCode::undecided;
    if (options.json) {
        fmt::print("{}\n", report::dump({{"format", "etalon.selftest/1"},
                                         {"device", device->info().name},
                                         {"timer", device->timer()},
                                         {"driver", environment.driver},
                                         {"etalon", environment.etalon_version},
                                         {"method", environment.method},
                                         {"reference_clock_mhz", environment.reference_clock_mhz},
                                         {"trusted", trusted == all},
                                         {"cases", rows},
                                         {"injection", injection_json(injection)}}));
        return;
    }
    fmt::print("\n{} of {} agree at rest and under load once times are at {:.0f} MHz{}\n", trusted,
               all, environment.reference_clock_mhz,
               trusted == all ? "" : "; `etalon doctor` says what may disturb this machine");
}

}  // namespace

void add_selftest(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "selftest", "Measure a few kernels at rest and under load: can this machine be trusted?");
    add_device_option(*command, options->device);
    add_timer_option(*command, options->timer);
    command->add_option("--blocks", options->plan.blocks, "Blocks of each case")
        ->capture_default_str()
        ->check(whole_between(8, 1000));
    command->add_option("--samples", options->plan.samples, "Launches of a block")
        ->capture_default_str()
        ->check(whole_between(5, 1000));
    add_json_option(*command, options->json);
    command->footer(
        "Exit codes: 0 every case is trusted, 3 one is not, 4 it could not be measured.");
    command->callback([options, &context] { run(*options, context); });
}

}  // namespace etalon::cli
