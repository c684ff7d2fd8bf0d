// --device
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device);

}  // namespace etalon::cli
