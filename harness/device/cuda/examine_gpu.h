// doctor's look at the GPUs.
#pragma once

#include <vector>

#include "harness/device/device.h"

namespace etalon::cuda {

void examine_gpus(std::vector<Finding>& findings);

}  // namespace etalon::cuda
