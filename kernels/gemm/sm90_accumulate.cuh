// How a warpgroup of the sm_90 GEMM sums a tile: its wgmma over all stages of K, in the order of
// the ring. `other(stage)`: who else is told that the stage has been read, as release() takes it.
#pragma once

#include "kernels/gemm/sm90_ring.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

// One group of wgmma stays in flight while the next stage is awaited.
template <GemmType kType, int kTileN, typename Accumulator, typename Other>
__device__ void accumulate(Accumulator (&d)[kTileN / 2], const Ring& ring, int a_offset,
                           int k_blocks, Cursor& at, const Other& other) {
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(d, ring.a(at.stage) + a_offset, ring.b(at.stage), k > 0);
        wgmma_wait<1>();
        if (k > 0) release(ring, previous, other(previous));
        previous = at.stage;
        at.advance();
    }
    wgmma_wait<0>();
    pin(d);
    release(ring, previous, other(previous));
}

// One warpgroup's sum of all 128 rows.
template <GemmType kType, int kTileN, typename Accumulator, typename Other>
__device__ void accumulate_alone(Accumulator (&upper)[kTileN / 2], Accumulator (&lower)[kTileN / 2],
                                 const Ring& ring, int k_blocks, Cursor& at, const Other& other) {
    constexpr int kLower = 64 * kStageRowBytes;
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        barrier_wait(ring.full(at.stage), at.phase);
        wgmma_fence();
        multiply_rows<kType, kTileN>(upper, ring.a(at.stage), ring.b(at.stage), k > 0);
        multiply_rows<kType, kTileN>(lower, ring.a(at.stage) + kLower, ring.b(at.stage), k > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (k > 0) release(ring, previous, other(previous));
        previous = at.stage;
        at.advance();
    }
    wgmma_wait<0>();
    pin(upper);
    pin(lower);
    release(ring, previous, other(previous));
}

template <int kCount>
__device__ void add(float (&d)[kCount], const float (&part)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) d[i] += part[i];
}

// Adds the sum of every two stages into fp32 registers.
template <GemmType kType, int kTileN, typename Other>
__device__ void accumulate_promoted(float (&d)[kTileN / 2], const Ring& ring, int a_offset,
                                    int k_blocks, Cursor& at, const Other& other) {
    float part[kTileN / 2];
    const auto start = [&](bool keep) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(part, ring.a(at.stage) + a_offset, ring.b(at.stage), keep);
    };
    for (int k = 0; k < k_blocks; k += 2) {
        start(false);
        int last = at.stage;
        at.advance();
        if (k + 1 < k_blocks) {
            start(true);
            wgmma_wait<1>();
            release(ring, last, other(last));
            last = at.stage;
            at.advance();
        }
        wgmma_wait<0>();
        pin(part);
        release(ring, last, other(last));
        add(d, part);
    }
}

// Adds each stage's: two sums in turn, so the next stage is being multiplied meanwhile.
template <GemmType kType, int kTileN, typename Other>
__device__ void accumulate_promoted_in_turn(float (&d)[kTileN / 2], const Ring& ring, int a_offset,
                                            int k_blocks, Cursor& at, const Other& other) {
    float even[kTileN / 2];
    float odd[kTileN / 2];
    int previous = 0;
    const auto start = [&](float(&part)[kTileN / 2]) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(part, ring.a(at.stage) + a_offset, ring.b(at.stage), false);
    };
    const auto finish = [&](float(&part)[kTileN / 2]) {
        pin(part);
        release(ring, previous, other(previous));
        add(d, part);
        previous = at.stage;
        at.advance();
    };
    start(even);
    previous = at.stage;
    at.advance();
    int k = 1;
    for (; k + 1 < k_blocks; k += 2) {
        start(odd);
        wgmma_wait<1>();
        finish(even);
        start(even);
        wgmma_wait<1>();
        finish(odd);
    }
    if (k < k_blocks) {
        start(odd);
        wgmma_wait<1>();
        finish(even);
        wgmma_wait<0>();
        pin(odd);
        release(ring, previous, other(previous));
        add(d, odd);
    } else {
        wgmma_wait<0>();
        pin(even);
        release(ring, previous, other(previous));
        add(d, even);
    }
}

}  // namespace etalon::kernels::sm90
#endif
