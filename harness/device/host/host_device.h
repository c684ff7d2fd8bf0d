// The CPU as a Device: one pinned thread, real measured times, so that the whole product works on a
// machine with no GPU.
#pragma once

#include <memory>

#include "harness/device/device.h"

namespace etalon::host {

[[nodiscard]] std::unique_ptr<Device> make_host_device();

}  // namespace etalon::host
