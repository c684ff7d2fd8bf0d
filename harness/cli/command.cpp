#include "harness/cli/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "harness/core/text.h"

namespace etalon::cli {

CLI::Option* add_db_option(CLI::App& command, std::string& path) {
    const char* from_environment = std::getenv("ETALON_DB");
    path =
        from_environment != nullptr && *from_environment != '\0' ? from_environment : "etalon.db";
    return command.add_option("--db", path, "Results file (or set $ETALON_DB)")
        ->capture_default_str()
        ->type_name("FILE");
}

CLI::Option* add_json_option(CLI::App& command, bool& json) {
    return command.add_flag("--json", json, "Print JSON; the field \"format\" names its version");
}

namespace {

template <typename T>
CLI::Validator between(T lo, T hi, const char* kind, const std::string& range) {
    return {[=](std::string& text) -> std::string {
                T value{};
                const char* last = text.data() + text.size();
                const auto [end, error] = std::from_chars(text.data(), last, value);
                const bool fine = error == std::errc{} && end == last && lo <= value && value <= hi;
                return fine ? "" : fmt::format("'{}' is not a {} from {}", text, kind, range);
            },
            range, ""};
}

}  // namespace

CLI::Validator number_between(double lo, double hi) {
    return between(lo, hi, "number", fmt::format("{:g} to {:g}", lo, hi));
}

CLI::Validator whole_between(std::int64_t lo, std::int64_t hi) {
    return between(lo, hi, "whole number", fmt::format("{} to {}", lo, hi));
}

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

}  // namespace

std::string explain(const CLI::ParseError& error, const CLI::App& app, int argc, char** argv) {
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

}  // namespace etalon::cli
