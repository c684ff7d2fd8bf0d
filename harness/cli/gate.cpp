// etalon gate: did the latest run get slower?

#include "harness/gate/gate.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/compare_options.h"
#include "harness/cli/output_file.h"
#include "harness/report/changes.h"
#include "harness/report/text.h"

namespace etalon::cli {

void add_gate(CLI::App& app, Context& context) {
    struct Options {
        std::string database, run, against, comment;
        int window = 20;
        CompareFlags compare;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("gate", "Whether a run is slower than the runs before it");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run to judge, by id or unique prefix")
        ->type_name("ID");
    command
        ->add_option("--against", options->against,
                     "Reference runs, as in driver=580.95 or tag=release; else the earlier runs "
                     "of the same suite, device and GPU model")
        ->type_name("SELECTION");
    command->add_option("--window", options->window, "How many earlier runs at most")
        ->check(whole_between(1, 1000))
        ->capture_default_str();
    options->compare.add_to(*command);
    command->add_option("--comment", options->comment, "Also write the result as Markdown")
        ->type_name("FILE.md");
    add_json_option(*command, options->json);
    command->footer(
        "Exit codes: 1 a case is slower or incorrect; 4 a case failed; 3 no baseline, or a case\n"
        "is ambiguous or missing; else 0. The gravest wins, in this order.");
    command->callback([options, &context] {
        const Store store = Store::open(options->database, Store::Mode::read);
        gate::GateOptions how;
        if (!options->run.empty()) how.run = options->run;
        if (!options->against.empty()) how.against = Selection::parse(options->against);
        how.window = options->window;
        how.compare = options->compare.values();
        const gate::GateResult result = gate::gate(store, how);
        if (!options->comment.empty()) {
            write_file(options->comment, report::gate_markdown(result));
        }
        fmt::print("{}", options->json ? report::dump(report::gate_json(result)) + "\n"
                                       : report::gate_text(result));
        context.exit = result.exit;
    });
}

}  // namespace etalon::cli
