// etalon history: cases over time.

#include "harness/report/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/command.h"
#include "harness/core/text.h"
#include "harness/gate/load.h"
#include "harness/report/runs.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string database, pattern, since;
    std::size_t limit = 60;
    double least_effect_percent = 100 * history::DetectOptions{}.least_effect;
    bool all = false, runs = false, json = false;
};

void print_runs(const std::vector<Run>& runs, bool as_json) {
    if (as_json) {
        fmt::print("{}\n", report::dump(report::runs_list_json(runs)));
        return;
    }
    for (const Run& run : runs) {
        fmt::print("{}  {}  {:<11} {:<8} {:<8} {}\n", run.run_id, report::minute(run.started_at),
                   name(run.state), run.suite, run.device, run.tag);
    }
}

// The id that begins most like the pattern.
std::string alike(const std::string& pattern, const std::vector<std::string>& ids) {
    const auto common = [&](const std::string& id) {
        return std::mismatch(pattern.begin(), pattern.end(), id.begin(), id.end()).first -
               pattern.begin();
    };
    return *std::max_element(ids.begin(), ids.end(),
                             [&](const auto& a, const auto& b) { return common(a) < common(b); });
}

// Case ids that the pattern names; a usage Error with the nearest id if none.
std::vector<std::string> matching(const Store& store, const std::string& pattern) {
    const std::vector<std::string> all = store.case_ids();
    std::vector<std::string> found;
    for (const std::string& id : all) {
        if (id == pattern || glob_match(pattern, id)) found.push_back(id);
    }
    if (!found.empty()) return found;
    if (all.empty()) {
        throw usage_error(
            fmt::format("no case matches '{}'; the file holds no measurement", pattern));
    }
    throw usage_error(
        fmt::format("no case matches '{}'; did you mean '{}'? (the file holds {} "
                    "cases)",
                    pattern, nearest(pattern, all).value_or(alike(pattern, all)), all.size()));
}

void print(const Options& options, const NightValues& values, Context& context) {
    const auto lines = history::lines_of(values, options.least_effect_percent / 100);
    if (lines.empty()) {
        context.exit = ExitCode::undecided;
        if (!options.json) {
            fmt::print("no measurement{}{}\n",
                       options.pattern.empty() ? "" : " of '" + options.pattern + "'",
                       options.since.empty() ? "" : " since " + options.since);
            return;
        }
    }
    if (!options.all) {
        fmt::print("{}",
                   options.json
                       ? report::dump(report::history_json(lines, values, options.limit)) + "\n"
                       : report::history_text(lines, values, options.limit));
        return;
    }
    const auto clusters = history::clusters_of(lines);
    fmt::print("{}", options.json
                         ? report::dump(report::findings_json(lines, clusters, values)) + "\n"
                         : report::findings_text(lines, clusters, values));
}

}  // namespace

void add_history(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "history", "Cases over time: where each changed, drifted, and what else changed then");
    command->add_option("CASE", options->pattern, "Case id or glob, as in 'gemm/bf16/*/cold'")
        ->type_name("CASE-OR-GLOB");
    add_db_option(*command, options->database);
    command->add_option("--since", options->since, "First day or time, as in 2026-12-01")
        ->type_name("TIME");
    command->add_option("--limit", options->limit, "Latest runs of each case; 0 for all")
        ->check(whole_between(0, 1'000'000'000))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--all", options->all,
                      "Every change of every case; those that moved together are one finding");
    command
        ->add_option("--min-effect", options->least_effect_percent,
                     "Smaller changes are not reported, in per cent")
        ->check(number_between(0, 100))
        ->type_name("PERCENT")
        ->capture_default_str();
    command->add_flag("--runs", options->runs, "List the runs instead");
    add_json_option(*command, options->json);
    command->callback([options, &context] {
        const Store store = Store::open(options->database, Store::Mode::read);
        Selection selection;
        if (!options->since.empty()) selection = Selection::parse("since=" + options->since);
        const std::vector<Run> runs = gate::choose_runs(store, selection);
        if (options->runs) {
            print_runs(runs, options->json);
            return;
        }
        if (options->pattern.empty() != options->all) {
            throw usage_error(
                "history needs a case id or a glob, or --all for every change of every case, or "
                "--runs; '*' takes every case");
        }
        const NightValues values =
            store.night_values(selection, options->all ? std::vector<std::string>()
                                                       : matching(store, options->pattern));
        print(*options, values, context);
    });
}

}  // namespace etalon::cli
