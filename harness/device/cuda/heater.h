// A steady tensor-core load, so that a block can be measured at the clocks of a card at work. On an
// H200 the clock holds for about 30 ms of it, then the power cap pulls it down (method.md).
#pragma once

#include <cuda_runtime_api.h>

#include "harness/device/device.h"

namespace etalon::cuda {

class Heater {
   public:
    // Takes about 100 MiB from `device`, which outlives this.
    Heater(Device& device, cudaStream_t stream);
    // About 2 ms of load, enqueued.
    void enqueue();
    // Load until this much time has gone by, and waits for it.
    void run(double milliseconds);

   private:
    Device& device_;
    cudaStream_t stream_;
    Buffer a_, b_, c_;
};

}  // namespace etalon::cuda
