// etalon devices: what cases can run on.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/device/device.h"

namespace etalon::cli {

void add_devices(CLI::App& app, Context&) {
    auto as_json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("devices", "Devices of this machine");
    add_json_option(*command, *as_json);
    command->callback([as_json] {
        const std::vector<DeviceListing> listings = list_devices();
        if (*as_json) {
            nlohmann::json rows = nlohmann::json::array();
            for (const DeviceListing& listing : listings) {
                rows.push_back({{"id", listing.id},
                                {"name", listing.name},
                                {"usable", listing.usable},
                                {"reason", listing.reason}});
            }
            fmt::print("{}\n",
                       nlohmann::json{{"format", "etalon.devices/1"}, {"devices", rows}}.dump(2));
            return;
        }
        for (const DeviceListing& listing : listings) {
            fmt::print("{:<8} {}\n", listing.id,
                       listing.usable ? listing.name : "not usable: " + listing.reason);
        }
    });
}

}  // namespace etalon::cli
