// A CUDA GPU as a Device: CUPTI (or CUDA events) for durations, clock64 and %globaltimer on every
// SM for the clock inside the interval, NVML for the rest.
#pragma once

#include <memory>
#include <vector>

#include "harness/device/device.h"

namespace etalon::cuda {

// Every GPU of this machine, or one listing that says why there is none.
[[nodiscard]] std::vector<DeviceListing> list_gpus();

// Throws a device Error in one line with the mend, also where the timer cannot be used.
[[nodiscard]] std::unique_ptr<Device> open_gpu(int index, Timer timer = Timer::automatic);

}  // namespace etalon::cuda
