// etalon report: one run as Markdown or JSON.

#include "harness/report/report.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/report/text.h"

namespace etalon::cli {

void add_report(CLI::App& app, Context&) {
    struct Options {
        std::string database, run, out, format = "md";
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("report", "A run against its baselines and the runs before it");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run, by id or unique prefix; else the latest")
        ->type_name("ID");
    command->add_option("--format", options->format, "md or json")
        ->check(CLI::IsMember({"md", "json"}))
        ->capture_default_str();
    command->add_option("--out", options->out, "Write to this file")->type_name("FILE");
    add_json_option(*command, options->json);
    command->callback([options] {
        const Store store = Store::open(options->database, Store::Mode::read);
        const auto run = options->run.empty() ? std::nullopt : std::optional(options->run);
        const report::Report report = report::load_report(store, run);
        const bool json = options->json || options->format == "json";
        const std::string text = json ? report::dump(report::report_json(report)) + "\n"
                                      : report::report_markdown(report);
        if (options->out.empty()) {
            fmt::print("{}", text);
        } else {
            write_file(options->out, text);
        }
    });
}

}  // namespace etalon::cli
