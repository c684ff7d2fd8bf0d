// etalon-bench: the cases of `etalon sweep` as an ordinary Google Benchmark program.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "harness/bench_program/case_names.h"
#include "harness/bench_program/google_flags.h"
#include "harness/bench_program/timed_case.h"
#include "harness/core/version.h"
#include "harness/options/case_options.h"
#include "harness/options/device_option.h"
#include "harness/options/program.h"
#include "harness/sweep/sweep.h"

namespace etalon::bench_program {
namespace {

struct Options {
    cli::CaseOptions cases;
    std::string device = "auto";
    std::string timer = "auto";
    int launches = 40;
    GoogleFlags google;
};

constexpr const char* footer =
    "Names are case ids. Each iteration is one launch, timed on the device in the L2 state of the\n"
    "case; flush, spin and clock reading stand outside that time and add to the wall time and to\n"
    "cpu_time. Results are checked before and after. Each case is timed in --launches launches, "
    "or\n"
    "in as many as --benchmark_min_time needs.\n"
    "\n"
    "Counters: GB/s and TFLOP/s (least bytes and FLOP of the op over the mean time), clock_mhz\n"
    "(effective clock inside the launches, median), and for each case that is not its op's\n"
    "baseline, ratio: baseline time / its time, over 1 is a win. For it the baseline is prepared\n"
    "too and timed in blocks that alternate with the case's own; the median over pairs of blocks.\n"
    "\n"
    "Exit codes: 0 fine, 1 incorrect result, 2 bad usage or input, 4 measurement or device\n"
    "failure.";

// Where and with what it was measured: what a reader needs before comparing two files.
void add_context(Device& device, const std::string& suite) {
    const Environment environment = describe_environment(device);
    const auto add = [](const std::string& key, const std::string& value) {
        if (!value.empty()) benchmark::AddCustomContext(key, value);
    };
    add("device", device.info().id);
    add("gpu", device.info().kind == DeviceKind::cuda ? environment.gpu : "");
    add("host_cpu", environment.host_cpu);
    add("driver", environment.driver);
    add("cuda_runtime", environment.cuda_runtime);
    add("cublas", environment.cublas);
    add("cudnn", environment.cudnn);
    if (const auto found = environment.extra.find("oneDNN"); found != environment.extra.end()) {
        add("onednn", found->second);
    }
    add("environment", environment.hash());
    add("etalon", environment.etalon_version);
    add("revision", std::string(revision()));
    add("method", fmt::format("{}/{}", device.timer(), environment.method));
    add("reference_clock_mhz", fmt::format("{:.0f}", environment.reference_clock_mhz));
    add("floor_ns", fmt::format("{:.1f}", device.timer_floor().floor_ns));
    add("suite", suite);
}

ExitCode measure(const Options& options, char* program, const Registry& registry,
                 const std::vector<Case>& cases) {
    options.google.initialize(program);
    const std::unique_ptr<Device> device = open_device(options.device, parse_timer(options.timer));
    add_context(*device, options.cases.suite_name());

    Session session(registry, *device);
    std::string suffix = "/manual_time";
    const bool counted = !options.google.has_min_time();
    if (counted) suffix = fmt::format("/iterations:{}{}", options.launches, suffix);
    for (const Case& key : cases) {
        auto* registered = benchmark::RegisterBenchmark(
            key.id().c_str(),
            [&session, key](benchmark::State& state) { session.run(key, state); });
        registered->UseManualTime();
        if (counted) registered->Iterations(options.launches);
    }
    const auto file_reporter = make_file_reporter(options.google.out_format);
    CaseNames file(*file_reporter, suffix.size());
    // The library's own, by --benchmark_format and --benchmark_color; it keeps it.
    CaseNames display(*benchmark::CreateDefaultDisplayReporter(), suffix.size());
    benchmark::RunSpecifiedBenchmarks(&display, options.google.out.empty() ? nullptr : &file);
    benchmark::ClearRegisteredBenchmarks();  // they refer to the session
    benchmark::Shutdown();
    if (!options.google.out.empty() && file.failed()) {
        throw device_error(
            fmt::format("cannot write '{}': the disk may be full", options.google.out));
    }
    return session.exit();
}

ExitCode run(int argc, char** argv) {
    CLI::App app{"The cases of `etalon sweep` as a Google Benchmark program", "etalon-bench"};
    Options options;
    cli::add_version_flag(app);
    options.cases.add_to(app);
    cli::add_device_option(app, options.device);
    cli::add_timer_option(app, options.timer);
    app.add_option("--launches", options.launches, "Timed launches of each case")
        ->capture_default_str()
        ->type_name("N")
        ->check(CLI::Range(1, 1000000));
    options.google.add_to(app);
    app.footer(footer);
    app.get_formatter()->column_width(44);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) throw usage_error(cli::explain(error, app, argc, argv));
        app.exit(error);
        return ExitCode::ok;
    }

    const Registry registry = builtin_registry();
    const std::vector<Case> cases =
        options.google.keep(options.cases.choose(registry, parse_device(options.device).kind));
    if (options.google.list_tests) {
        for (const Case& key : cases) fmt::print("{}\n", key.id());
        return ExitCode::ok;
    }
    return measure(options, argv[0], registry, cases);
}

}  // namespace
}  // namespace etalon::bench_program

int main(int argc, char** argv) {
    return etalon::cli::run_program("etalon-bench",
                                    [&] { return etalon::bench_program::run(argc, argv); });
}
