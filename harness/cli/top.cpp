// etalon top: where a run loses most to its baselines.

#include "harness/report/top.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/report/text.h"

namespace etalon::cli {

void add_top(CLI::App& app, Context& context) {
    struct Options {
        std::string database, run;
        report::TopOptions top;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("top", "The cases that lose most to their baselines, or win most");
    command->add_option("CASES", options->top.pattern, "Only these, as in 'gemm/bf16/*'")
        ->type_name("GLOB");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run, by id or unique prefix; else the latest")
        ->type_name("ID");
    command->add_option("-n,--limit", options->top.most, "How many; 0 for all")
        ->check(whole_between(0, 1'000'000'000))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--best", options->top.best, "The greatest wins instead");
    add_json_option(*command, options->json);
    command->footer("Exit code 3 where no case has a ratio to a baseline.");
    command->callback([options, &context] {
        const Store store = Store::open(options->database, Store::Mode::read);
        const auto run = options->run.empty() ? std::nullopt : std::optional(options->run);
        const report::Report report = report::load_run_report(store, run);
        const std::vector<report::TopRow> rows = report::top_rows(report, options->top);
        if (rows.empty()) context.exit = ExitCode::undecided;
        if (options->json) {
            write_stdout(report::dump(report::top_json(report, rows)) + "\n");
        } else if (rows.empty()) {
            write_stdout(fmt::format(
                "no case{} of run {} has a ratio to a baseline\n",
                options->top.pattern.empty() ? "" : " that matches '" + options->top.pattern + "'",
                report.run.run_id));
        } else {
            write_stdout(report::top_text(report, rows));
        }
    });
}

}  // namespace etalon::cli
