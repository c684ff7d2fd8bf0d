// --device, --timer
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device);
CLI::Option* add_timer_option(CLI::App& command, std::string& timer);

}  // namespace etalon::cli
