// etalon-bench: the cases of `etalon sweep` as an ordinary Google Benchmark program.
//
// One iteration is one launch, timed by the device in the state that the case asks for; everything
// Google Benchmark does with times (repetitions, JSON, comparison) works as for any other program.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/cli/case_options.h"
#include "harness/cli/command.h"
#include "harness/cli/device_option.h"
#include "harness/cli/program.h"
#include "harness/core/error.h"
#include "harness/core/version.h"
#include "harness/measure/case_runner.h"
#include "harness/stats/stats.h"
#include "harness/sweep/sweep.h"

namespace etalon {
namespace {

constexpr int block_samples = 8;
constexpr int baseline_samples = 16;

// The device and the case in hand: Google Benchmark calls a case several times, and algorithms are
// chosen once.
class Session {
   public:
    Session(const Registry& registry, Device& device)
        : registry_(registry), device_(device), runner_(registry, device, {}) {}

    // Throws Unsupported, or an Error when the result is wrong.
    void open(const Case& key) {
        if (prepared_ && key_ == key) return;
        prepared_.reset();
        prepared_.emplace(runner_.prepare(key));
        key_ = key;
        require_correct("before");
        (void)prepared_->time({.l2 = key.l2, .warmups = warmup_launches, .samples = 1});
    }
    [[nodiscard]] std::vector<Sample> time() {
        return prepared_->time({.l2 = key_.l2, .warmups = 0, .samples = block_samples}).samples;
    }
    void require_correct(std::string_view when) {
        const std::string wrong = prepared_->check();
        if (wrong.empty()) return;
        prepared_.reset();
        throw device_error(fmt::format("incorrect {} timing, {}", when, wrong));
    }
    [[nodiscard]] Work work() const { return registry_.op(key_.problem.op).work(key_.problem); }
    // Median time of the op's baseline for this problem, measured once; 0 where there is none.
    [[nodiscard]] double baseline_ns() {
        const Case base = registry_.baseline(key_, device_.info().kind);
        if (base == key_) return 0;
        const auto [found, is_new] = baselines_.try_emplace(base.id(), 0.0);
        if (!is_new) return found->second;
        try {
            std::vector<double> times;
            for (const Sample& sample :
                 runner_.prepare(base)
                     .time({.l2 = base.l2, .warmups = warmup_launches, .samples = baseline_samples})
                     .samples) {
                times.push_back(sample.duration_ns);
            }
            found->second = stats::median(times);
        } catch (const Error&) {
            if (!device_.usable()) throw;  // else the case stands without a ratio
        }
        return found->second;
    }

   private:
    const Registry& registry_;
    Device& device_;
    CaseRunner runner_;
    Case key_;
    std::optional<PreparedCase> prepared_;
    std::map<std::string, double> baselines_;
};

void count(benchmark::State& state, Session& session, const std::vector<double>& times_ns,
           const std::vector<double>& clocks_mhz) {
    const double time_ns = stats::median(times_ns);
    const Work work = session.work();
    state.counters["GB/s"] = work.bytes_min / time_ns;
    if (work.flop > 0) state.counters["TFLOP/s"] = work.flop / time_ns / 1000;
    if (!clocks_mhz.empty()) state.counters["clock_mhz"] = stats::median(clocks_mhz);
    if (const double baseline_ns = session.baseline_ns(); baseline_ns > 0) {
        state.counters["ratio"] = baseline_ns / time_ns;
    }
}

void run_case(benchmark::State& state, Session& session, const Case& key) {
    try {
        session.open(key);
        std::vector<double> times_ns, clocks_mhz;
        std::vector<Sample> block;
        for (auto _ : state) {
            if (block.empty()) block = session.time();
            const Sample sample = block.back();
            block.pop_back();
            state.SetIterationTime(sample.duration_ns * 1e-9);
            times_ns.push_back(sample.duration_ns);
            if (sample.clock_mhz > 0) clocks_mhz.push_back(sample.clock_mhz);
        }
        session.require_correct("after");
        count(state, session, times_ns, clocks_mhz);
    } catch (const Unsupported& reason) {
        state.SkipWithError(fmt::format("unsupported: {}", reason.what()).c_str());
    } catch (const std::exception& error) {
        state.SkipWithError(error.what());
    }
}

void add_context(Device& device) {
    const Environment environment = describe_environment(device);
    const Device::TimerFloor floor = device.timer_floor();
    const auto add = [](const std::string& name, const std::string& value) {
        if (!value.empty()) benchmark::AddCustomContext(name, value);
    };
    add("etalon", fmt::format("{} ({})", version(), revision()));
    add("device", device.info().id);
    add("gpu", environment.gpu);
    add("driver", environment.driver);
    add("cuda_runtime", environment.cuda_runtime);
    add("cublas", environment.cublas);
    add("cudnn", environment.cudnn);
    add("environment_hash", environment.hash());
    add("reference_clock_mhz", fmt::format("{}", environment.reference_clock_mhz));
    add("timer", device.timer());
    add("timer_floor_ns", fmt::format("{:.0f}", floor.floor_ns));
}

bool is_benchmark_flag(std::string_view argument) {
    return argument.starts_with("--benchmark_") || argument.starts_with("--v=");
}

int run(int argc, char** argv) {
    CLI::App app{
        "The cases of `etalon sweep` as a Google Benchmark program: one iteration is one launch,\n"
        "timed by the device. Counters: GB/s and TFLOP/s of the op's least work, the clock in the\n"
        "timed intervals, and the ratio to the op's baseline (its median of 16 launches, taken in\n"
        "this process after the first case that asks for it; over 1 is a win).",
        "etalon-bench"};
    app.set_version_flag("--version", fmt::format("etalon-bench {} ({})", version(), revision()));
    app.footer(
        "Google Benchmark's own flags work too: --benchmark_filter=REGEX, --benchmark_list_tests,\n"
        "--benchmark_format=json, --benchmark_out=FILE, --benchmark_repetitions=N,\n"
        "--benchmark_min_time=SECONDS (of timed launches; 0.02 here unless given).");
    cli::CaseOptions cases;
    std::string device_name = "auto";
    cases.add_to(app);
    cli::add_device_option(app, device_name);

    // Ours first, Google Benchmark's apart: each refuses what it does not know.
    std::vector<char*> ours = {argv[0]}, theirs = {argv[0]};
    std::string min_time = "--benchmark_min_time=0.02";
    theirs.push_back(min_time.data());
    bool listing = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        (is_benchmark_flag(argument) ? theirs : ours).push_back(argv[i]);
        listing = listing || argument == "--benchmark_list_tests" ||
                  argument == "--benchmark_list_tests=true";
    }
    try {
        app.parse(static_cast<int>(ours.size()), ours.data());
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        throw usage_error(cli::explain(error, app, static_cast<int>(ours.size()), ours.data()));
    }
    int their_count = static_cast<int>(theirs.size());
    benchmark::Initialize(&their_count, theirs.data());
    if (their_count > 1) {
        throw usage_error(fmt::format(
            "Google Benchmark knows no flag '{}' (see etalon-bench --help)", theirs[1]));
    }

    const Registry registry = builtin_registry();
    const std::vector<Case> chosen = cases.choose(registry, parse_device(device_name).kind);
    std::unique_ptr<Device> device;
    std::unique_ptr<Session> session;
    if (!listing) {
        device = open_device(device_name);
        session = std::make_unique<Session>(registry, *device);
        add_context(*device);
    }
    for (const Case& key : chosen) {
        benchmark::RegisterBenchmark(
            key.id().c_str(),
            [&session, key](benchmark::State& state) { run_case(state, *session, key); })
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
    }
    const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return static_cast<int>(matched == 0 ? ExitCode::usage : ExitCode::ok);
}

}  // namespace
}  // namespace etalon

int main(int argc, char** argv) {
    return etalon::cli::run_program("etalon-bench", [&] { return etalon::run(argc, argv); });
}
