// etalon report: one run as Markdown, JSON or a page.

#include "harness/report/report.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/cli/page_inputs.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string database, run, out, format = "md";
    PageFlags page;
    bool json = false;
};

ExitCode run(const Options& options) {
    const Store store = Store::open(options.database, Store::Mode::read);
    const auto run_id = options.run.empty() ? std::nullopt : std::optional(options.run);
    const std::string format = options.json ? "json" : options.format;
    if (format != "html") options.page.refuse_for(format);
    std::string text;
    ExitCode exit = ExitCode::ok;
    if (format == "html") {
        if (options.out.empty()) {
            throw usage_error("a page goes to a file: add --out report.html");
        }
        const nlohmann::json data = report::page_data(store, options.page.values(run_id));
        if (data["run"].is_null()) exit = ExitCode::undecided;
        text = report::html_page(data);
    } else {
        const report::Report report = report::load_report(store, run_id);
        text = format == "json" ? report::dump(report::report_json(report)) + "\n"
                                : report::report_markdown(report);
    }
    if (options.out.empty()) {
        write_stdout(text);
    } else {
        write_file(options.out, text);
    }
    return exit;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("report", "A run against its baselines and the runs before it");
    add_db_option(*command, options->database);
    command->add_option("--run", options->run, "Run, by id or unique prefix; else the latest")
        ->type_name("ID");
    command->add_option("--format", options->format, "md, json, or html: a page for a browser")
        ->check(CLI::IsMember({"md", "json", "html"}))
        ->capture_default_str();
    command->add_option("--out", options->out, "Write to this file")->type_name("FILE");
    options->page.add_to(*command);
    add_json_option(*command, options->json);
    command->footer(
        "The page is one file that fetches nothing. Of a results file without a run it says so,\n"
        "with exit code 3.");
    command->callback([options, &context] { context.exit = run(*options); });
}

}  // namespace etalon::cli
