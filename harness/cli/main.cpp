// etalon: one program, one subcommand a file.

#include <fmt/format.h>

#include "harness/cli/command.h"
#include "harness/cli/program.h"
#include "harness/core/version.h"

namespace {

// In the order of `etalon --help`.
void add_commands(CLI::App& app, etalon::cli::Context& context) {
    etalon::cli::add_doctor(app, context);
    etalon::cli::add_devices(app, context);
    etalon::cli::add_list(app, context);
    etalon::cli::add_sweep(app, context);
    etalon::cli::add_gate(app, context);
    etalon::cli::add_compare(app, context);
    etalon::cli::add_history(app, context);
    etalon::cli::add_report(app, context);
    etalon::cli::add_db(app, context);
}

int run(int argc, char** argv) {
    using namespace etalon::cli;
    CLI::App app{
        "How fast every kernel runs on this machine against the vendor's library, whether that\n"
        "changed since last night, and because of what.",
        "etalon"};
    app.set_version_flag(
        "--version", fmt::format("etalon {} ({}; {}; {})", etalon::version(), etalon::revision(),
                                 etalon::compiler(), etalon::build_features()));
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 fine, 1 regression or incorrect result, 2 bad usage or input, 3 cannot\n"
        "decide, 4 measurement or device failure.");
    app.get_formatter()->column_width(34);

    Context context;
    add_commands(app, context);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        throw etalon::usage_error(explain(error, app, argc, argv));
    }
    return static_cast<int>(context.exit);
}

}  // namespace

int main(int argc, char** argv) {
    return etalon::cli::run_program("etalon", [&] { return run(argc, argv); });
}
