// Device copy with 16-byte accesses: the memory ceiling that other kernels are held against.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace etalon::kernels {

// Any alignment; 16-byte accesses where both ends have the same address modulo 16, else the widest
// that they allow. The ranges must not overlap.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream);

}  // namespace etalon::kernels
