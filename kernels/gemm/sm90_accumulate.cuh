// How a warpgroup of the sm_90 GEMM sums a tile: its wgmma over all stages of K, in the order of
// the ring.
//
// `multiply(stage, keep)` starts the products of a stage as one group; `keep` false begins a new
// sum. The sums may be read after pin(). `peer`: the block that shares an operand, as release()
// takes it.
#pragma once

#include "kernels/gemm/sm90_ring.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

// One group of wgmma stays in flight while the next stage is awaited. Calls all_full() once it has
// seen every stage full.
template <typename Multiply, typename AllFull>
__device__ void accumulate(const Ring& ring, int k_blocks, Cursor& at, int peer,
                           const Multiply& multiply, const AllFull& all_full) {
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply(at.stage, k > 0);
        wgmma_wait<1>();
        if (k > 0) release(ring, previous, peer);
        previous = at.stage;
        at.advance();
    }
    all_full();
    wgmma_wait<0>();
    release(ring, previous, peer);
}
template <typename Multiply>
__device__ void accumulate(const Ring& ring, int k_blocks, Cursor& at, int peer,
                           const Multiply& multiply) {
    accumulate(ring, k_blocks, at, peer, multiply, [] {});
}

// Begins anew every two stages and hands the sum to add(), for types whose sums the tensor cores
// keep in few bits. Meanwhile the other warpgroup keeps the tensor cores busy.
template <typename Multiply, typename Add>
__device__ void accumulate_in_pairs(const Ring& ring, int k_blocks, Cursor& at, int peer,
                                    const Multiply& multiply, const Add& add) {
    for (int k = 0; k < k_blocks; k += 2) {
        barrier_wait(ring.full(at.stage), at.phase);
        multiply(at.stage, false);
        int last = at.stage;
        at.advance();
        if (k + 1 < k_blocks) {
            barrier_wait(ring.full(at.stage), at.phase);
            multiply(at.stage, true);
            wgmma_wait<1>();
            release(ring, last, peer);
            last = at.stage;
            at.advance();
        }
        wgmma_wait<0>();
        release(ring, last, peer);
        add();
    }
}

}  // namespace etalon::kernels::sm90
#endif
