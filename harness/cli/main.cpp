// etalon: one program, one subcommand a file.

#include <fmt/format.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstring>
#include <exception>

#include "harness/cli/command.h"
#include "harness/core/text.h"
#include "harness/core/version.h"

namespace {

int exit_code(etalon::ExitCode code) {
    return static_cast<int>(code);
}

int report_error(const char* message, etalon::ExitCode code) {
    // Not fmt::print: it throws where stderr cannot be written, and nobody is left to catch it.
    std::fputs(fmt::format("etalon: {}\n", etalon::one_line(message)).c_str(), stderr);
    return exit_code(code);
}

// Short output is still in the buffer here; a full disk must not pass for success.
void finish_output() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw etalon::device_error(fmt::format(
        "cannot write the output: {}", errno != 0 ? std::strerror(errno) : "the disk may be full"));
}

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
        return report_error(explain(error, app, argc, argv).c_str(), etalon::ExitCode::usage);
    }
    return exit_code(context.exit);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const int code = run(argc, argv);
        finish_output();
        return code;
    } catch (const etalon::Error& error) {
        return report_error(error.what(), error.code());
    } catch (const std::exception& error) {
        return report_error(error.what(), etalon::ExitCode::device_failure);
    }
}
