// etalon roofline: what bounds each case, by intensity and by clock elasticity.

#include "harness/report/roofline.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/report/text.h"

namespace etalon::cli {

void add_roofline(CLI::App& app, Context&) {
    struct Options {
        std::string database, run;
        bool disagree = false, json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "roofline", "What bounds each case: memory, compute or latency, by two accounts");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run, by id or unique prefix; else the latest")
        ->type_name("ID");
    command->add_flag("--disagree", options->disagree, "Only cases on which the two disagree");
    add_json_option(*command, options->json);
    command->callback([options] {
        const Store store = Store::open(options->database, Store::Mode::read);
        const auto run = options->run.empty() ? std::nullopt : std::optional(options->run);
        const report::Roofline roofline = report::roofline(report::load_report(store, run));
        if (options->json) {
            fmt::print("{}\n", report::dump(report::roofline_json(roofline)));
        } else {
            fmt::print("{}", report::roofline_text(roofline, options->disagree));
        }
    });
}

}  // namespace etalon::cli
