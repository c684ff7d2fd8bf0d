#include "harness/options/program.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "harness/core/text.h"
#include "harness/core/version.h"

namespace etalon::cli {
namespace {

void option_names(const CLI::App& app, std::vector<std::string>& names) {
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
}

// The subcommand that the arguments had reached.
const CLI::App* reached(const CLI::App& app) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return at;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands(nullptr))
        names.push_back(command->get_name());
    return names;
}

int report_error(std::string_view name, const char* message, ExitCode code) {
    // Not fmt::print: it throws where stderr cannot be written, and nobody is left to catch it.
    std::fputs(fmt::format("{}: {}\n", name, one_line(message)).c_str(), stderr);
    return static_cast<int>(code);
}

// Short output is still in the buffer here; a full disk must not pass for success.
void finish_output() {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw device_error(fmt::format("cannot write the output: {}",
                                   errno != 0 ? std::strerror(errno) : "the disk may be full"));
}

}  // namespace

std::string explain(const CLI::ParseError& error, const CLI::App& app, int argc,
                    const char* const* argv) {
    const CLI::App* at = reached(app);
    std::string help = "--help";
    for (const CLI::App* up = at; up != nullptr; up = up->get_parent()) {
        help = up->get_name() + " " + help;
    }
    const std::vector<std::string> extras = at->remaining();
    const bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                            !command_names(*at).empty() && (!extras.empty() || at == &app);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (no_command && argc > 1)) {
        const std::string first = !extras.empty() ? extras.front() : std::string(argv[1]);
        const std::string flag = first.substr(0, first.find('='));
        if (flag.starts_with("-")) {
            std::vector<std::string> names;
            option_names(*at, names);
            return fmt::format("{} (see {})", unknown_name("flag", flag, names), help);
        }
        const std::vector<std::string> commands = command_names(*at);
        if (!commands.empty()) return unknown_name("command", first, commands);
        return fmt::format("unexpected argument '{}' (see {})", first, help);
    }
    return fmt::format("{} (see {})", trim(one_line(error.what())), help);
}

void add_version_flag(CLI::App& app) {
    app.set_version_flag("--version", fmt::format("{} {} ({}; {}; {})", app.get_name(), version(),
                                                  revision(), compiler(), build_features()));
}

int run_program(std::string_view name, const std::function<ExitCode()>& body) {
    try {
        const ExitCode code = body();
        finish_output();
        return static_cast<int>(code);
    } catch (const Error& error) {
        return report_error(name, error.what(), error.code());
    } catch (const std::exception& error) {
        return report_error(name, error.what(), ExitCode::device_failure);
    }
}

}  // namespace etalon::cli
