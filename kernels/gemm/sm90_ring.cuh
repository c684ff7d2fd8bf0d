// What the sm_90 GEMM kernels share: the ring of stages in shared memory, a place in it, and the
// multiplication of one stage.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/common/sm90_ptx.cuh"
#include "kernels/gemm/sm90_wgmma.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

constexpr int kStageRowBytes = 128;  // of K: one row of the 128-byte swizzle

// Stages of A's rows and then B's; after them, for each stage, the barrier that says it is full and
// the one that says it is empty.
struct Ring {
    std::uint32_t base;  // on a kTileAlignment boundary
    int a_bytes;
    int stage_bytes;
    int stages;

    __device__ std::uint32_t a(int stage) const { return base + stage * stage_bytes; }
    __device__ std::uint32_t b(int stage) const { return a(stage) + a_bytes; }
    __device__ std::uint32_t full(int stage) const {
        return base + stages * stage_bytes + stage * 8;
    }
    __device__ std::uint32_t empty(int stage) const { return full(stages + stage); }

    // By one warp. One producer a block; `releases`: arrivals that empty a stage.
    __device__ void init_barriers(int releases) const {
        const int stage = static_cast<int>(threadIdx.x) % 32;
        if (stage < stages) {
            barrier_init(full(stage), 1);
            barrier_init(empty(stage), releases);
            barrier_init_fence();
        }
        __syncwarp();
    }
};

// A place in the ring; `phase` flips each time round.
struct Cursor {
    int stages;
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ void advance() {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
    __device__ void skip(int count) {
        stage += count;
        phase ^= static_cast<std::uint32_t>(stage / stages) & 1U;
        stage %= stages;
    }
};

// Starts D (+)= A · Bᵀ over one stage, for 64 rows of A.
template <GemmType type, int n, typename Accumulator>
__device__ void multiply_rows(Accumulator (&d)[n / 2], std::uint32_t a, std::uint32_t b,
                              bool keep) {
    constexpr int kStepBytes = 32;  // K of one wgmma, of any type
    constexpr int kSteps = kStageRowBytes / kStepBytes;
    const std::uint64_t a_tile = tile_descriptor(a);
    const std::uint64_t b_tile = tile_descriptor(b);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        Wgmma<type, n>::multiply(d, a_tile + step * (kStepBytes >> 4),
                                 b_tile + step * (kStepBytes >> 4), (keep || step > 0) ? 1 : 0);
    }
}

// The same as a group of its own.
template <GemmType type, int n, typename Accumulator>
__device__ void multiply_stage(Accumulator (&d)[n / 2], std::uint32_t a, std::uint32_t b,
                               bool keep) {
    wgmma_fence();
    multiply_rows<type, n>(d, a, b, keep);
    wgmma_commit();
}

// Every consumer warp says by itself that it has read the stage: to this block's producer, and to
// that of block `other` of the cluster, if not negative, which writes here too.
__device__ inline void release(const Ring& ring, int stage, int other) {
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane == 0) barrier_arrive(ring.empty(stage));
    if (lane == 1 && other >= 0) {
        barrier_arrive_in_cluster(in_block(ring.empty(stage), static_cast<std::uint32_t>(other)));
    }
}

}  // namespace etalon::kernels::sm90
#endif
