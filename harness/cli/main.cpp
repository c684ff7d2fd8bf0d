// etalon: one program, one subcommand a file.

#include "harness/cli/command.h"
#include "harness/options/program.h"

namespace {

etalon::ExitCode run(int argc, char** argv) {
    using namespace etalon::cli;
    CLI::App app{
        "How fast every kernel runs on this machine against the vendor's library, whether that\n"
        "changed since last night, and because of what.",
        "etalon"};
    add_version_flag(app);
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
        if (error.get_exit_code() != 0) throw etalon::usage_error(explain(error, app, argc, argv));
        app.exit(error);
    }
    return context.exit;
}

}  // namespace

int main(int argc, char** argv) {
    return etalon::cli::run_program("etalon", [&] { return run(argc, argv); });
}
