// The GEMM kernels as the plan sees them: a name, what must be done once, and the launch.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_plan.h"

namespace etalon::kernels {

struct GemmLaunch {
    GemmArgs args;
    GemmSchedule schedule;
    TensorMap a_map;  // sm90 kernels only
    TensorMap b_map;
    TensorMap c_map;  // where the kernel stores by it and can_store_by_map()
    int multiprocessors = 0;
};

struct GemmKernel {
    const char* name = nullptr;
    int tile_m = 0;                      // rows of A in a tile
    int tile_n = 0;                      // rows of B in a tile
    bool tensor_maps = false;            // launch reads a_map and b_map, and c_map if it can
    bool streams = false;                // reads B once, so L2 need not fetch ahead
    cudaError_t (*prepare)() = nullptr;  // once a device; may be null
    cudaError_t (*launch)(const GemmLaunch&, cudaStream_t) = nullptr;
};

// TMA and wgmma for many rows of A; null where this build has none of this type and width. tile_n
// is 128 or 256; also 160 and 192 for bf16, fp16 and fp8, 224 for bf16 and fp16; no 224, 256 for
// fp8.
const GemmKernel* sm90_kernel(GemmType type, int tile_n);
// The same with a whole tile to each of the two warpgroups in turn: bf16 and fp16, tile_n 128, 160
// and 192.
const GemmKernel* sm90_in_turn_kernel(GemmType type, int tile_n);
// The same with rows of A ("tokens": 8, 16, 32 or 64) and of B (64 or 128) exchanged, bound by the
// reading of B; bf16, fp16 and fp8.
const GemmKernel* sm90_decode_kernel(GemmType type, int tokens, int rows);
// Rows of A in a tile of the sm90 kernels, and bytes of K in a stage.
constexpr int kSm90TileM = 128;
constexpr int kSm90StageBytes = 128;
// What c_map stores at a time: bytes of a row, rows.
constexpr int kSm90StoreBytes = 64;
constexpr int kSm90StoreRows = 64;
// TMA clips a row at a multiple of 16 bytes only.
[[nodiscard]] bool can_store_by_map(const GemmArgs& args);

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
