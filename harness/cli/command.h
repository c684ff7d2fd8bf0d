// The commands of `etalon`: one file each, thin: parse, call, print.
//
// Each add_X declares a subcommand with its options and sets its callback. The callback prints its
// result to stdout and sets Context::exit; faults are thrown as Error and printed by main in one
// line on stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/core/error.h"
#include "harness/options/number_options.h"

namespace etalon::cli {

struct Context {
    ExitCode exit = ExitCode::ok;
};

// --db FILE: default $ETALON_DB, else etalon.db in the current folder.
CLI::Option* add_db_option(CLI::App& command, std::string& path);
// --json: machine output; documented in README, versioned by the field "format".
CLI::Option* add_json_option(CLI::App& command, bool& json);

// All commands, in the order of `etalon --help`.
void add_commands(CLI::App& app, Context& context);

void add_doctor(CLI::App& app, Context& context);
void add_devices(CLI::App& app, Context& context);
void add_list(CLI::App& app, Context& context);
void add_sweep(CLI::App& app, Context& context);
void add_gate(CLI::App& app, Context& context);
void add_compare(CLI::App& app, Context& context);
void add_history(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_top(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_roofline(CLI::App& app, Context& context);
void add_cost(CLI::App& app, Context& context);
void add_db(CLI::App& app, Context& context);
void add_profile(CLI::App& app, Context& context);
void add_selftest(CLI::App& app, Context& context);

}  // namespace etalon::cli
