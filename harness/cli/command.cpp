#include "harness/cli/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

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
    return command.add_flag("--json", json, "Print JSON; the field \"format\" names its version")
        ->disable_flag_override();
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

void add_commands(CLI::App& app, Context& context) {
    add_doctor(app, context);
    add_devices(app, context);
    add_selftest(app, context);
    add_list(app, context);
    add_sweep(app, context);
    add_gate(app, context);
    add_compare(app, context);
    add_history(app, context);
    add_report(app, context);
    add_roofline(app, context);
    add_db(app, context);
}

}  // namespace etalon::cli
