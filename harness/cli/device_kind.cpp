#include "harness/cli/device_kind.h"

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/device/device.h"

namespace etalon::cli {

CLI::Option* add_device_option(CLI::App& command, std::string& device) {
    return command.add_option("--device", device, "auto, cuda:N or host")
        ->capture_default_str()
        ->type_name("DEVICE");
}

DeviceKind kind_of_device(const std::string& device) {
    if (device == "host") return DeviceKind::host;
    if (device == "cuda" || device.starts_with("cuda:")) return DeviceKind::cuda;
    if (device == "auto") {
        return list_devices().front().usable ? DeviceKind::cuda : DeviceKind::host;
    }
    const std::vector<std::string> known = {"auto", "cuda:0", "host"};
    throw usage_error(unknown_name("device", device, known));
}

}  // namespace etalon::cli
