// etalon sweep: measure a suite and store every sample.

#include "harness/sweep/sweep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/progress.h"
#include "harness/core/text.h"
#include "harness/options/case_options.h"
#include "harness/options/device_option.h"

namespace etalon::cli {
namespace {

struct Options {
    CaseOptions cases;
    std::string device = "auto";
    std::string timer = "auto";
    std::string database;
    std::string tag;
    double precision_percent = 0.5;
    int min_samples = 15;
    int max_samples = 64;
    double case_budget_ms = 400;
    double budget_s = 0;
    std::uint64_t seed = 1;
    bool choose_again = false;
    std::string resume;
    bool resuming = false;
    bool dry_run = false;
    bool json = false;
};

SweepOptions sweep_options(const Options& options) {
    SweepOptions out;
    out.suite = options.cases.suite_name();
    out.include = options.cases.filter;
    out.exclude = options.cases.exclude;
    out.measure = {options.precision_percent / 100, options.min_samples, options.max_samples,
                   options.case_budget_ms, options.seed};
    if (options.budget_s > 0) out.budget_s = options.budget_s;
    out.tag = options.tag;
    out.choose_again = options.choose_again;
    return out;
}

void print_result(const SweepResult& result, const Options& options) {
    if (options.json) {
        nlohmann::json out = {{"format", "etalon.sweep/1"},
                              {"run_id", result.run_id},
                              {"db", options.database},
                              {"state", name(result.state)},
                              {"ok", result.ok},
                              {"unsupported", result.unsupported},
                              {"failed", result.failed},
                              {"incorrect", result.incorrect},
                              {"left", result.left}};
        if (!result.why_left.empty()) out["why_left"] = result.why_left;
        out["spent_s"] = {{"wall", result.wall_s},       {"device_busy", result.busy_s},
                          {"prepare", result.prepare_s}, {"check", result.check_s},
                          {"time", result.time_s},       {"store", result.store_s}};
        if (result.clock_hi_mhz > 0) {
            out["clock_lo_mhz"] = result.clock_lo_mhz;
            out["clock_hi_mhz"] = result.clock_hi_mhz;
            out["raw_effect"] = result.raw_effect;
            out["raw_effect_case"] = result.raw_effect_case;
        }
        fmt::print("{}\n", out.dump(2));
        return;
    }
    fmt::print("run {}: {} ok, {} unsupported, {} failed, {} incorrect", result.run_id, result.ok,
               result.unsupported, result.failed, result.incorrect);
    if (result.left > 0) fmt::print(", {} left ({})", result.left, result.why_left);
    fmt::print("\nstored in {}\n", options.database);
    if (result.clock_hi_mhz > 0) {
        fmt::print("the clock at rest went from {:.0f} to {:.0f} MHz between cases",
                   result.clock_lo_mhz, result.clock_hi_mhz);
        if (result.raw_effect > 0) {
            fmt::print("; under load it would have moved raw times by up to {:.1f} % ({})",
                       100 * result.raw_effect, result.raw_effect_case);
        }
        fmt::print("\n");
    }
    fmt::print("{:.1f} s: preparing {:.1f}, checking {:.1f}, timing {:.1f}, storing {:.1f}",
               result.wall_s, result.prepare_s, result.check_s, result.time_s, result.store_s);
    if (result.busy_s > 0) {
        fmt::print("; the device was executing for {:.0f} %", 100 * result.busy_s / result.wall_s);
    }
    fmt::print("\n");
    if (result.left > 0) {
        fmt::print("go on with: etalon sweep --resume {} --db {}\n", result.run_id,
                   options.database);
    }
}

// A CUDA error such as an illegal address ends the process's context for good. The case is stored
// as failed; a fresh process takes up the rest.
[[noreturn]] void go_on_in_new_process(const SweepResult& result, const Options& options) {
    std::vector<std::string> arguments = {"etalon",   "sweep",        "--resume", result.run_id,
                                          "--device", options.device, "--db",     options.database,
                                          "--timer",  options.timer};
    if (options.json) arguments.emplace_back("--json");
    if (options.budget_s > 0) {
        arguments.emplace_back("--budget");
        arguments.push_back(fmt::format("{}", options.budget_s));
    }
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    execv("/proc/self/exe", raw.data());
    throw device_error(
        fmt::format("the device was lost; go on with: etalon sweep --resume {} --db {}",
                    result.run_id, options.database));
}

// `--precision 0.25%` is how narrow the interval is to be; `--precision bf16` chooses cases.
void take_half_width(Options& options) {
    std::erase_if(options.cases.precisions, [&](const std::string& text) {
        if (!text.ends_with('%')) return false;
        const std::string number = trim(text.substr(0, text.size() - 1));
        double percent = 0;
        const char* last = number.data() + number.size();
        const auto [end, error] = std::from_chars(number.data(), last, percent);
        if (error != std::errc{} || end != last || !(percent >= 0.001 && percent <= 100)) {
            throw usage_error(
                fmt::format("--precision '{}' is not a share from 0.001% to 100%", text));
        }
        options.precision_percent = percent;
        return true;
    });
}

// A resumed run goes on as it began: what would be ignored is refused.
void require_plain_resume(const CLI::App& command) {
    constexpr std::array kept = {"--resume", "--device", "--timer", "--db", "--budget", "--json"};
    for (const CLI::Option* option : command.get_options()) {
        const std::string name = option->get_name();
        if (option->count() == 0 || std::find(kept.begin(), kept.end(), name) != kept.end())
            continue;
        throw usage_error(fmt::format(
            "--resume goes on with the run's own cases and options; leave out {}", name));
    }
}

void run(const Options& options, Context& context) {
    const Registry registry = builtin_registry();
    if (options.dry_run) {
        const std::vector<Case> cases =
            options.cases.choose(registry, parse_device(options.device).kind);
        print_cases(cases, options.json ? "etalon.plan/1" : "");
        return;
    }

    std::string run_id;
    SweepOptions chosen = sweep_options(options);
    std::vector<Case> cases;
    const std::unique_ptr<Device> device = open_device(options.device, parse_timer(options.timer));
    if (!options.resuming) cases = options.cases.choose(registry, device->info().kind);
    SweepResult result;
    {
        const SweepLock lock(options.database);
        Store store = Store::open(options.database,
                                  options.resuming ? Store::Mode::write : Store::Mode::create);
        if (options.resuming) {
            const Run unfinished = find_unfinished(*device, store, options.resume);
            run_id = unfinished.run_id;
            try {
                chosen = options_from_json(unfinished.options);
            } catch (const Error& error) {
                throw usage_error(
                    fmt::format("'{}', run {}: {}", options.database, run_id, error.what()));
            }
            chosen.budget_s =
                options.budget_s > 0 ? std::optional<double>(options.budget_s) : std::nullopt;
            store.reopen_run(run_id);
        } else {
            run_id = begin_sweep(*device, store, cases, chosen);
        }
        const Interrupt interrupt;
        Progress progress(options.json);
        result = run_sweep(registry, *device, store, run_id, chosen, interrupt.requested(),
                           [&](const SweepEvent& event) { progress.show(event); });
        progress.end();
    }
    if (!std::filesystem::exists(options.database)) {
        throw device_error(
            fmt::format("'{}' was removed while the sweep wrote into it; what was measured is lost",
                        options.database));
    }
    if (result.device_lost && result.left > 0) go_on_in_new_process(result, options);
    print_result(result, options);
    context.exit = exit_code(result);
}

}  // namespace

void add_sweep(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("sweep", "Measure a suite and store every sample");
    options->cases.add_to(*command);
    add_device_option(*command, options->device);
    add_timer_option(*command, options->timer);
    add_db_option(*command, options->database);
    command->add_option("--budget", options->budget_s, "Stop after this wall time, resumably")
        ->type_name("SECONDS")
        ->check(number_between(0.001, 1e9));
    command
        ->add_option(
            "--half-width", options->precision_percent,
            "Half-width of the median's 95 % interval that ends a case; also --precision 0.25%")
        ->type_name("PERCENT")
        ->capture_default_str()
        ->check(number_between(0.001, 100.0));
    command
        ->add_option("--min-samples", options->min_samples,
                     "Fewest samples of a case at each clock")
        ->capture_default_str()
        ->check(whole_between(3, 10000));
    command->add_option("--max-samples", options->max_samples, "Most samples of a case")
        ->capture_default_str()
        ->check(whole_between(3, 100000));
    command
        ->add_option("--case-budget", options->case_budget_ms, "Time for the samples of one case")
        ->type_name("MS")
        ->capture_default_str()
        ->check(number_between(1.0, 1e7));
    command->add_option("--seed", options->seed, "Seed of the inputs")
        ->capture_default_str()
        ->check(whole_between(0, std::numeric_limits<std::int64_t>::max()));
    command->add_flag("--choose-again", options->choose_again,
                      "Let libraries' algorithms be chosen afresh, not as the file's latest run "
                      "under the same driver and libraries has them");
    command->add_option("--tag", options->tag, "A word kept with the run")->type_name("TEXT");
    CLI::Option* resume = command
                              ->add_option("--resume", options->resume,
                                           "Go on with this unfinished run (default: the latest)")
                              ->expected(0, 1)
                              ->type_name("RUN");
    command->add_flag("--dry-run", options->dry_run, "Print the cases and measure nothing");
    add_json_option(*command, options->json);
    command->callback([options, command, resume, &context] {
        options->resuming = resume->count() > 0;
        if (options->resuming) require_plain_resume(*command);
        take_half_width(*options);
        if (options->max_samples < options->min_samples) {
            throw usage_error(fmt::format("--max-samples {} is below --min-samples {}",
                                          options->max_samples, options->min_samples));
        }
        run(*options, context);
    });
}

}  // namespace etalon::cli
