#include "harness/bench_program/google_flags.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "harness/core/error.h"

namespace etalon::bench_program {
namespace {

constexpr const char* group = "Google Benchmark";

std::string environment_name(std::string flag) {
    std::transform(flag.begin(), flag.end(), flag.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return flag;
}

std::string check_context(const std::string& text) {
    return text.find('=') == std::string::npos ? "'" + text + "' is not KEY=VALUE" : "";
}

}  // namespace

CLI::Option* GoogleFlags::add(CLI::App& app, const std::string& flag, const std::string& help) {
    CLI::Option* option = app.add_option("--" + flag, help)
                              ->group(group)
                              ->envname(environment_name(flag))
                              ->type_name("TEXT");
    passed_on_.push_back(option);
    return option;
}

void GoogleFlags::add_to(CLI::App& app) {
    const CLI::IsMember format({"console", "json", "csv"});
    const CLI::IsMember truth({"true", "false", "yes", "no", "on", "off", "1", "0"});
    const auto add_switch = [&](const std::string& flag, const std::string& help) {
        add(app, flag, help)->expected(0, 1)->default_str("true")->type_name("BOOL")->check(truth);
    };

    app.add_flag("--benchmark_list_tests", list_tests, "Print the case ids; no device is opened")
        ->group(group)
        ->envname("BENCHMARK_LIST_TESTS");
    app.add_option("--benchmark_filter", filter,
                   "Keep cases whose id this expression is found in; -EXPR leaves them out")
        ->group(group)
        ->envname("BENCHMARK_FILTER")
        ->type_name("EXPR");
    min_time_ = add(app, "benchmark_min_time",
                    "Instead of --launches: time launches until their own time adds up to this")
                    ->type_name("SECONDS")
                    ->transform([](std::string text) {
                        if (text.ends_with("s")) text.pop_back();
                        return text;
                    })
                    ->check(CLI::Range(1e-9, 1e6));
    add(app, "benchmark_min_warmup_time", "Untimed before each case")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 1e6));
    add(app, "benchmark_repetitions", "Measure each case so often; adds mean, median, stddev, cv")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000));
    add_switch("benchmark_enable_random_interleaving", "Repetitions in random order");
    add_switch("benchmark_report_aggregates_only", "Only mean, median, stddev, cv, everywhere");
    add_switch("benchmark_display_aggregates_only", "The same, not in --benchmark_out");
    add(app, "benchmark_format", "console, json or csv, on stdout")
        ->type_name("FORMAT")
        ->check(format);
    passed_on_.push_back(
        app.add_option("--benchmark_out", out, "Write the results to this file too")
            ->group(group)
            ->envname("BENCHMARK_OUT")
            ->type_name("FILE"));
    passed_on_.push_back(app.add_option("--benchmark_out_format", out_format, "As of the file")
                             ->group(group)
                             ->envname("BENCHMARK_OUT_FORMAT")
                             ->capture_default_str()
                             ->type_name("FORMAT")
                             ->check(format));
    add(app, "benchmark_color", "auto, true or false")
        ->check(CLI::IsMember({"auto", "true", "false", "yes", "no", "on", "off", "1", "0"}));
    add_switch("benchmark_counters_tabular", "Counters in columns");
    add(app, "benchmark_perf_counters", "Counters of the CPU, where the library has them");
    add(app, "benchmark_context", "More lines of context, KEY=VALUE,...")->check(check_context);
    add(app, "benchmark_time_unit", "ns, us, ms or s (default: us)")
        ->type_name("UNIT")
        ->check(CLI::IsMember({"ns", "us", "ms", "s"}));
    add(app, "v", "How much the library says of itself")
        ->type_name("N")
        ->envname("")
        ->check(CLI::Range(0, 100));
}

std::vector<Case> GoogleFlags::keep(const std::vector<Case>& cases) const {
    if (filter.empty() || filter == "all") return cases;
    const bool wanted = !filter.starts_with('-');
    std::regex expression;
    try {
        expression.assign(wanted ? filter : filter.substr(1), std::regex::extended);
    } catch (const std::regex_error& error) {
        throw usage_error(fmt::format("--benchmark_filter: '{}' is not a regular expression ({})",
                                      filter, error.what()));
    }
    std::vector<Case> kept;
    for (const Case& key : cases) {
        if (std::regex_search(key.id(), expression) == wanted) kept.push_back(key);
    }
    if (kept.empty()) {
        throw usage_error(fmt::format(
            "--benchmark_filter '{}' leaves none of {} cases; --benchmark_list_tests without it "
            "shows them",
            filter, cases.size()));
    }
    return kept;
}

void GoogleFlags::initialize(char* program) const {
    if (!out.empty() && !std::ofstream(out, std::ios::app)) {
        throw usage_error(fmt::format("--benchmark_out: '{}' cannot be written", out));
    }
    // What is filtered here is not to be filtered again, whatever the environment says.
    std::vector<std::string> arguments = {"--benchmark_filter=all"};
    for (const CLI::Option* option : passed_on_) {
        if (option->count() == 0) continue;
        arguments.push_back(
            fmt::format("--{}={}", option->get_lnames().front(), option->as<std::string>()));
    }
    std::vector<char*> raw = {program};
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    int count = static_cast<int>(raw.size()) - 1;
    benchmark::SetDefaultTimeUnit(benchmark::kMicrosecond);
    benchmark::Initialize(&count, raw.data());
    if (count > 1) {
        throw usage_error(fmt::format("this build's Google Benchmark does not take '{}'", raw[1]));
    }
}

}  // namespace etalon::bench_program
