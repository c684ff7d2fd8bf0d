// etalon history: cases over time.

#include "harness/report/history.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/command.h"
#include "harness/core/text.h"
#include "harness/gate/load.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string database, pattern, since;
    std::size_t limit = 60;
    bool runs = false, json = false;
};

void print_runs(const std::vector<Run>& runs, bool as_json) {
    if (as_json) {
        nlohmann::json all = nlohmann::json::array();
        for (const Run& run : runs) {
            all.push_back({{"run_id", run.run_id},
                           {"started_at", run.started_at},
                           {"state", name(run.state)},
                           {"suite", run.suite},
                           {"device", run.device},
                           {"revision", run.revision},
                           {"tag", run.tag},
                           {"environment_hash", run.environment_hash}});
        }
        fmt::print("{}\n",
                   report::dump(nlohmann::json{{"format", "etalon.runs/1"}, {"runs", all}}));
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

}  // namespace

void add_history(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("history", "Cases over time, one line each");
    command->add_option("CASE", options->pattern, "Case id or glob, as in 'gemm/bf16/*/cold'")
        ->type_name("CASE-OR-GLOB");
    add_db_option(*command, options->database);
    command->add_option("--since", options->since, "First day or time, as in 2026-12-01")
        ->type_name("TIME");
    command->add_option("--limit", options->limit, "Latest runs of each case; 0 for all")
        ->check(whole_between(0, 1'000'000'000))
        ->type_name("N")
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
        if (options->pattern.empty()) {
            throw usage_error("history needs a case id or a glob, or --runs; '*' takes every case");
        }
        gate::RunSet set;
        for (const Run& run : runs) {
            set.environments.try_emplace(run.environment_hash,
                                         store.environment(run.environment_hash));
        }
        for (const std::string& id : matching(store, options->pattern)) {
            for (MeasurementRow& row : store.series(id, selection)) {
                set.rows.push_back(std::move(row));
            }
        }
        const auto lines = report::history(set, options->limit);
        if (lines.empty()) context.exit = ExitCode::undecided;
        if (options->json) {
            fmt::print("{}\n", report::dump(report::history_json(lines)));
        } else if (lines.empty()) {
            fmt::print("no measurement of '{}' since {}\n", options->pattern, options->since);
        } else {
            fmt::print("{}", report::history_text(lines));
        }
    });
}

}  // namespace etalon::cli
