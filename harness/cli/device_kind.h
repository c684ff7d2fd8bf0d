// --device, and which kind it means without opening it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/core/case.h"

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device);

// `cuda` and `cuda:N` mean a GPU whether one is here or not; `auto` means what is here. Throws a
// usage Error for an unknown name.
[[nodiscard]] DeviceKind kind_of_device(const std::string& device);

}  // namespace etalon::cli
