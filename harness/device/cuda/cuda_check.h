// The one place where a CUDA status becomes an Error.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

namespace etalon::cuda {

// Throws a device Error "WHAT: message (name)" unless `status` is success. OutOfMemory for
// cudaErrorMemoryAllocation, whose sticky state is cleared.
void check(cudaError_t status, std::string_view what);

// After these errors the context is lost and every later call fails.
[[nodiscard]] bool is_fatal(cudaError_t status);

}  // namespace etalon::cuda
