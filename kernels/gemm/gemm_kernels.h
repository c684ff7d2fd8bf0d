// The GEMM kernels as the plan sees them: a name, what must be done once, and the launch.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_plan.h"

namespace etalon::kernels {

struct GemmLaunch {
    GemmArgs args;
    TensorMap a_map;  // sm90 kernels only
    TensorMap b_map;
    int multiprocessors = 0;
};

struct GemmKernel {
    const char* name = nullptr;
    int tile_n = 0;                      // rows of B in a tile
    bool tensor_maps = false;            // launch reads a_map and b_map
    cudaError_t (*prepare)() = nullptr;  // once a device; may be null
    cudaError_t (*launch)(const GemmLaunch&, cudaStream_t) = nullptr;
};

// TMA and wgmma; null where this build or this type has none. tile_n is 128 or 256.
const GemmKernel* sm90_kernel(GemmType type, int tile_n);
// Rows of A in a tile of the sm90 kernels, and bytes of K in a stage.
constexpr int kSm90TileM = 128;
constexpr int kSm90StageBytes = 128;

// Any size, alignment and leading dimension, sm_80 or later. Null for fp32.
const GemmKernel* mma_kernel(GemmType type);
// fp32 by fused multiply-add.
const GemmKernel* simt_kernel();

// Bytes of an element of A and B.
[[nodiscard]] constexpr int input_bytes(GemmType type) {
    switch (type) {
        case GemmType::bf16:
        case GemmType::fp16:
            return 2;
        case GemmType::tf32:
        case GemmType::fp32:
            return 4;
        case GemmType::fp8:
        case GemmType::int8:
            return 1;
    }
    return 0;
}

}  // namespace etalon::kernels
