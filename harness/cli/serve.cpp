// etalon serve: the report and its data for a browser, from a shared results machine.

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/output_file.h"
#include "harness/cost/data_files.h"
#include "harness/report/serve/server.h"

namespace etalon::cli {

void add_serve(CLI::App& app, Context&) {
    struct Options {
        std::string database;
        serve::ServerOptions server;
    };
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("serve", "The report and a JSON API over HTTP, read-only");
    add_db_option(*command, options->database);
    command
        ->add_option("--host", options->server.host,
                     "Address to listen on; whoever reaches it can read the whole file")
        ->type_name("ADDRESS")
        ->capture_default_str();
    command->add_option("--port", options->server.port, "Port to listen on; 0 takes a free one")
        ->check(whole_between(0, 65535))
        ->type_name("N")
        ->capture_default_str();
    command->footer(
        "GET / is the page (?run=ID); /report.md, /report.csv, /report.xml (JUnit) and /badge.svg\n"
        "the other formats. JSON, with the formats that --json prints elsewhere: /api/runs,\n"
        "/api/cases, /api/report?run=ID, /api/page?run=ID, /api/top?run=ID&limit=N&best=1,\n"
        "/api/roofline?run=ID, /api/history?case=GLOB&limit=N, /api/findings, /api/gate?run=ID,\n"
        "/api/compare?a=SELECTION&b=SELECTION. Nothing is written; ctrl-C ends it. There is no\n"
        "password and no TLS: beyond this machine, put a proxy that has them in front.");
    command->callback([options] {
        // Says now, not at the first visit, that the file cannot be read.
        (void)Store::open(options->database, Store::Mode::read);
        const std::string cards = cost::find_data_file("gpus.toml").string();
        serve::Api api(options->database, cost::parse_cards(cost::read_text(cards), cards));
        serve::Server server(api, options->server);
        write_stdout(
            fmt::format("serving {} on {} (ctrl-C ends)\n", options->database, server.url()));
        std::fflush(stdout);
        server.run();
    });
}

}  // namespace etalon::cli
