// Tensor maps for the copy engine, without the driver API's header and without linking libcuda.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/gemm/gemm_plan.h"  // TensorMap

namespace etalon::kernels {

// A tensor of up to five dimensions, the innermost dense and first; strides in bytes of the others.
// Boxes have 128 bytes of the innermost dimension, under the 128-byte swizzle.
struct TensorBoxes {
    int element_bytes = 2;
    const void* data = nullptr;
    std::span<const std::uint64_t> sizes;
    std::span<const std::uint64_t> strides_bytes;
    std::span<const std::uint32_t> box;
    bool once = false;  // read once: L2 fetches no more than is asked for
};
cudaError_t encode_tensor_map(TensorMap* map, const TensorBoxes& of);

}  // namespace etalon::kernels
