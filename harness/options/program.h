// What the main() of each program does around its own work: one line on stderr for a fault, and the
// exit code that goes with it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "harness/core/error.h"

namespace etalon::cli {

// One line for a command line that could not be parsed; an unknown flag or command gets the nearest
// that exists.
[[nodiscard]] std::string explain(const CLI::ParseError& error, const CLI::App& app, int argc,
                                  const char* const* argv);

// --version: version, revision, compiler and features of this build.
void add_version_flag(CLI::App& app);

// Runs `body`; what it throws becomes one line `NAME: what` on stderr and its exit code.
[[nodiscard]] int run_program(std::string_view name, const std::function<ExitCode()>& body);

}  // namespace etalon::cli
