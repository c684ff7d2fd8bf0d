#include "harness/options/device_option.h"

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
    return command.add_option("--device", device, "auto, cuda:N or host")
        ->capture_default_str()
        ->type_name("DEVICE");
}

}  // namespace etalon::cli
