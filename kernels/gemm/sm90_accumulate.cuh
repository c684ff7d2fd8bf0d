// How a warpgroup of the sm_90 GEMM sums a tile: its wgmma over all stages of K, in the order of
// the ring. `peer`: the block that shares an operand, as release() takes it.
#pragma once

#include "kernels/gemm/sm90_ring.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

// One group of wgmma stays in flight while the next stage is awaited.
template <GemmType kType, int kTileN, typename Accumulator>
__device__ void accumulate(Accumulator (&d)[kTileN / 2], const Ring& ring, int a_offset,
                           int k_blocks, Cursor& at, int peer) {
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(d, ring.a(at.stage) + a_offset, ring.b(at.stage), k > 0);
        wgmma_wait<1>();
        if (k > 0) release(ring, previous, peer);
        previous = at.stage;
        at.advance();
    }
    wgmma_wait<0>();
    pin(d);
    release(ring, previous, peer);
}

// One warpgroup's sum of all 128 rows. Calls all_full() once it has seen every stage full.
template <GemmType kType, int kTileN, typename Accumulator, typename AllFull>
__device__ void accumulate_alone(Accumulator (&upper)[kTileN / 2], Accumulator (&lower)[kTileN / 2],
                                 const Ring& ring, int k_blocks, Cursor& at, int peer,
                                 const AllFull& all_full) {
    constexpr int kLower = 64 * kStageRowBytes;
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        barrier_wait(ring.full(at.stage), at.phase);
        wgmma_fence();
        multiply_rows<kType, kTileN>(upper, ring.a(at.stage), ring.b(at.stage), k > 0);
        multiply_rows<kType, kTileN>(lower, ring.a(at.stage) + kLower, ring.b(at.stage), k > 0);
        wgmma_commit();
        wgmma_wait<1>();
        if (k > 0) release(ring, previous, peer);
        previous = at.stage;
        at.advance();
    }
    all_full();
    wgmma_wait<0>();
    pin(upper);
    pin(lower);
    release(ring, previous, peer);
}

template <int kCount>
__device__ void add(float (&d)[kCount], const float (&part)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) d[i] += part[i];
}

// Adds the sum of every two stages into fp32 registers; the other warpgroup keeps the tensor cores
// busy meanwhile.
template <GemmType kType, int kTileN>
__device__ void accumulate_promoted(float (&d)[kTileN / 2], const Ring& ring, int a_offset,
                                    int k_blocks, Cursor& at, int peer) {
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
            release(ring, last, peer);
            last = at.stage;
            at.advance();
        }
        wgmma_wait<0>();
        pin(part);
        release(ring, last, peer);
        add(d, part);
    }
}

}  // namespace etalon::kernels::sm90
#endif
