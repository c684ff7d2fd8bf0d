// etalon compare: two drivers, two cuDNN releases, two tags.

#include "harness/gate/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/cli/command.h"
#include "harness/cli/compare_options.h"
#include "harness/gate/gate.h"
#include "harness/gate/load.h"
#include "harness/gate/sides.h"
#include "harness/report/changes.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

nlohmann::json ids(const std::vector<Run>& runs) {
    nlohmann::json all = nlohmann::json::array();
    for (const Run& run : runs) all.push_back(run.run_id);
    return all;
}

}  // namespace

void add_compare(CLI::App& app, Context& context) {
    struct Options {
        std::string database, before, after;
        CompareFlags compare;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("compare", "Every case that differs between two sets of runs");
    command->add_option("A", options->before, "Reference, as in driver=580.95, cudnn=9.14, run=ID")
        ->required()
        ->type_name("SELECTION");
    command->add_option("B", options->after, "What is set against it")
        ->required()
        ->type_name("SELECTION");
    add_db_option(*command, options->database);
    options->compare.add_to(*command);
    add_json_option(*command, options->json);
    command->footer(
        "A comparison tells, it does not judge: exit code 0, or 3 where no case can be compared.\n"
        "To fail a job, use `etalon gate --against SELECTION`.");
    command->callback([options, &context] {
        const Store store = Store::open(options->database, Store::Mode::read);
        const auto [before, after] = gate::choose_sides(store, options->before, options->after);
        const gate::Comparison comparison =
            gate::compare(gate::load_runs(store, before), gate::load_runs(store, after),
                          options->compare.values());
        const bool any = std::any_of(comparison.changes.begin(), comparison.changes.end(),
                                     [](const auto& change) { return change.ratio.has_value(); });
        context.exit = any ? ExitCode::ok : ExitCode::undecided;
        if (options->json) {
            nlohmann::json out = report::changes_json(comparison);
            out["format"] = "etalon.compare/1";
            out["reference"] = ids(before);
            out["candidate"] = ids(after);
            fmt::print("{}\n", report::dump(out));
            return;
        }
        fmt::print("A {} ({} runs) against B {} ({} runs): {}\n{}", options->before, before.size(),
                   options->after, after.size(),
                   any ? gate::counts_text(comparison) : "no case can be compared",
                   report::changes_text(comparison));
    });
}

}  // namespace etalon::cli
