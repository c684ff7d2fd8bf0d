// etalon profile: one launch of one case under Nsight Compute or Nsight Systems.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/core/text.h"
#include "harness/measure/case_runner.h"
#include "harness/options/device_option.h"
#include "harness/profile/counters.h"
#include "harness/profile/nsight.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string case_id, device = "cuda:0", tool = "ncu", out = "etalon-profile";
    bool counters = false, here = false, print = false, json = false;
};

// nvidia-smi's figure is a mean over up to a second.
constexpr double busy_ms = 1500;

profile::Job job_of(const Options& options, const Case& key) {
    return {std::filesystem::read_symlink("/proc/self/exe").string(), key.id(), options.device,
            key.l2};
}

PreparedCase prepare(CaseRunner& runner, const Case& key) {
    PreparedCase prepared = runner.prepare(key);
    if (const std::string wrong = prepared.check(); !wrong.empty()) {
        throw Error(ExitCode::regression, fmt::format("{}: {}", key.id(), wrong));
    }
    return prepared;
}

// In a process that a profiler watches: it needs the timer's place in CUPTI for itself.
void run_here(const Registry& registry, const Case& key, const std::string& device_name) {
    const std::unique_ptr<Device> device = open_device(device_name, Timer::events);
    CaseRunner runner(registry, *device, {});
    PreparedCase prepared = prepare(runner, key);
    prepared.launch_in_range(profile::range);
    fmt::print(stderr, "{} ran once in the range '{}' of domain 'etalon'\n", key.id(),
               profile::range);
}

std::optional<double> utilisation(const Registry& registry, const Case& key,
                                  const std::string& device_name) {
    const std::unique_ptr<Device> device = open_device(device_name);
    CaseRunner runner(registry, *device, {});
    PreparedCase prepared = prepare(runner, key);
    prepared.launch_for(busy_ms);
    return device->reported_utilisation();
}

std::string percent(std::optional<double> share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : "not counted on this device";
}

void print_counters(const profile::Counters& counters, std::optional<double> util, const Case& key,
                    const Work& work, bool as_json) {
    if (as_json) {
        const auto maybe = [](std::optional<double> value) {
            return value ? report::number(*value) : nlohmann::json();
        };
        fmt::print("{}\n", report::dump({{"format", "etalon.counters/1"},
                                         {"case_id", key.id()},
                                         {"kernels", counters.kernels},
                                         {"duration_ns", report::number(counters.duration_ns)},
                                         {"nvidia_smi_utilisation", maybe(util)},
                                         {"sm_active", maybe(counters.sm_active)},
                                         {"tensor_active", maybe(counters.tensor_active)},
                                         {"occupancy", maybe(counters.occupancy)},
                                         {"dram_share", maybe(counters.dram_share)},
                                         {"dram_bytes", maybe(counters.dram_bytes)},
                                         {"bytes_min", report::number(work.bytes_min)}}));
        return;
    }
    fmt::print("{}: {} kernel{}, {} under the profiler\n\n", key.id(), counters.kernels.size(),
               counters.kernels.size() == 1 ? "" : "s", report::time_text(counters.duration_ns));
    fmt::print("nvidia-smi's GPU-Util   {:<10} while it runs without a pause: some kernel ran\n",
               percent(util));
    fmt::print("SMs active              {:<10} of SM cycles had a warp\n",
               percent(counters.sm_active));
    fmt::print("tensor cores active     {:<10} of SM cycles\n", percent(counters.tensor_active));
    fmt::print("achieved occupancy      {:<10} of the warps that an active SM can hold\n",
               percent(counters.occupancy));
    fmt::print("DRAM throughput         {:<10} of its peak\n", percent(counters.dram_share));
    if (counters.dram_bytes) {
        fmt::print("DRAM bytes              {:<10} {:.2f} times the least that the problem moves\n",
                   human_bytes(*counters.dram_bytes), *counters.dram_bytes / work.bytes_min);
    }
}

void run(const Options& options, Context& context) {
    const Registry registry = builtin_registry();
    const DeviceName device = parse_device(options.device);
    if (device.kind == DeviceKind::host) {
        throw usage_error("profile is for a GPU's cases; give --device cuda:0");
    }
    const Case key = registry.parse_case(options.case_id, device.kind);
    if (options.here) return run_here(registry, key, options.device);

    const profile::Tool tool =
        options.counters ? profile::Tool::ncu : profile::parse_tool(options.tool);
    const profile::Job job = job_of(options, key);
    const std::optional<std::string> path = profile::find_tool(tool);
    const std::string program = path.value_or(std::string(profile::name(tool)));
    const std::vector<std::string> report =
        profile::report_command(tool, program, job, options.out);
    if (options.print || !path) {
        fmt::print("{}\n", profile::shell_line(report));
        if (options.print) return;
        throw Error(ExitCode::undecided,
                    fmt::format("{} is not on this machine; with it, the line above profiles the "
                                "case",
                                profile::name(tool)));
    }
    if (!options.counters) {
        const profile::Ended ended = profile::run(report);
        fmt::print("{}", ended.out);
        if (ended.code != 0) {
            throw device_error(fmt::format("{} ended with {}; by hand: {}", profile::name(tool),
                                           ended.code, profile::shell_line(report)));
        }
        return;
    }
    const std::vector<std::string> metrics =
        profile::choose_metrics(profile::run({*path, "--query-metrics"}).out);
    const profile::Ended ended = profile::run(profile::counters_command(*path, job, metrics));
    const profile::Counters counters = profile::parse_counters(ended.out);
    print_counters(counters, utilisation(registry, key, options.device), key,
                   registry.op(key.problem.op).work(key.problem), options.json);
    context.exit = ExitCode::ok;
}

}  // namespace

void add_profile(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "profile", "One launch of one case under Nsight Compute or Nsight Systems");
    command->add_option("CASE", options->case_id, "Case id")->required();
    add_device_option(*command, options->device);
    command->add_option("--tool", options->tool, "ncu or nsys")->capture_default_str();
    command->add_option("--out", options->out, "The profiler's report, without its ending")
        ->capture_default_str()
        ->type_name("FILE");
    command->add_flag("--counters", options->counters,
                      "Print how busy SMs, tensor cores and memory were, beside nvidia-smi's "
                      "figure");
    command->add_flag("--print", options->print, "Print the profiler's command line and stop");
    command->add_flag("--here", options->here,
                      "Run the case in this process, for a profiler that watches it");
    add_json_option(*command, options->json);
    command->callback([options, &context] { run(*options, context); });
}

}  // namespace etalon::cli
