// etalon report: one run as Markdown, JSON, CSV, JUnit XML, a page, a badge.

#include "harness/report/report.h"

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/cli/page_inputs.h"
#include "harness/report/badge.h"
#include "harness/report/text.h"

namespace etalon::cli {
namespace {

struct Options {
    std::string database, run, out, badge, format = "md";
    PageFlags page;
    bool json = false, format_given = false;
};

const std::vector<std::string> formats = {"md", "json", "csv", "junit", "html"};

std::string text_of(const report::Report& report, const std::string& format) {
    if (format == "json") return report::dump(report::report_json(report)) + "\n";
    if (format == "csv") return report::report_csv(report);
    if (format == "junit") return report::report_junit(report);
    return report::report_markdown(report);
}

ExitCode run(const Options& options) {
    const Store store = Store::open(options.database, Store::Mode::read);
    const auto run_id = options.run.empty() ? std::nullopt : std::optional(options.run);
    const std::string format = options.json ? "json" : options.format;
    if (format != "html") options.page.refuse_for(format);
    if (!options.badge.empty()) {
        write_file(options.badge, report::badge_svg(report::load_report(store, run_id)));
        // A badge alone is asked for where nothing says what else.
        if (options.out.empty() && !options.format_given && !options.json) return ExitCode::ok;
    }
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
        text = text_of(report::load_report(store, run_id), format);
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
    CLI::Option* format = command
                              ->add_option("--format", options->format,
                                           "md, json, csv, junit, or html: a page for a browser")
                              ->check(CLI::IsMember(formats))
                              ->capture_default_str();
    command->add_option("--out", options->out, "Write to this file")->type_name("FILE");
    command->add_option("--badge", options->badge, "Also write a badge for a README")
        ->type_name("FILE.svg");
    options->page.add_to(*command);
    add_json_option(*command, options->json);
    command->footer(
        "The page is one file that fetches nothing. Of a results file without a run it says so,\n"
        "with exit code 3. In JUnit a slower or incorrect case is a failure, a failed one an\n"
        "error, an unsupported or undecided one skipped.");
    command->callback([options, format, &context] {
        options->format_given = format->count() > 0;
        context.exit = run(*options);
    });
}

}  // namespace etalon::cli
