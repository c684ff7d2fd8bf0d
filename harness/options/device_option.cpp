#include "harness/options/device_option.h"

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
    return command.add_option("--device", device, "auto, cuda:N or host")
        ->capture_default_str()
        ->type_name("DEVICE");
}

CLI::Option* add_timer_option(CLI::App& command, std::string& timer) {
    return command
        .add_option("--timer", timer,
                    "Clock of a GPU's launches: cupti, events, or auto (cupti where it can record)")
        ->capture_default_str()
        ->type_name("TIMER");
}

}  // namespace etalon::cli
