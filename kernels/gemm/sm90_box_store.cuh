// Stores a warpgroup's accumulators by TMA, so that C's lines are written whole and the registers
// are free as soon as shared memory has them.
#pragma once

#include <cuda.h>

#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/common/sm90_ptx.cuh"

namespace etalon::kernels::sm90 {

constexpr int kBoxBytes = kSm90StoreBytes * kSm90StoreRows;
constexpr int kBoxesOfWarpgroup = 3;  // one being written, two being stored
static_assert(kSm90StoreRows == 64);

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A warpgroup's 64 rows go to C in boxes of 32 columns, by way of shared memory.
template <typename Output>
class BoxStore {
   public:
    __device__ BoxStore(std::uint32_t boxes, const CUtensorMap& map, int warpgroup)
        : first_(boxes + warpgroup * kBoxesOfWarpgroup * kBoxBytes),
          map_(map),
          barrier_(1 + warpgroup),
          leader_(threadIdx.x % 128 == 0) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane % 16;
        // Sixteen bytes at `chunk` of a row of 64 lie at chunk ^ row / 2 % 4: the 64-byte swizzle.
        const int chunk = lane / 16 ^ row / 2 % 4;
        offset_[0] = row * kSm90StoreBytes + chunk * 16;
        offset_[1] = row * kSm90StoreBytes + (chunk ^ 2) * 16;
    }
    template <int kCount>
    __device__ void store(const float (&d)[kCount], int row, int col) {
        constexpr int kColumns = 32;
#pragma unroll
        for (int box = 0; box < kCount * 2 / kColumns; ++box) {
            const std::uint32_t to = first_ + turn_ * kBoxBytes;
            turn_ = turn_ + 1 == kBoxesOfWarpgroup ? 0 : turn_ + 1;
            if (leader_) wait_stores_read<kBoxesOfWarpgroup - 1>();
            named_barrier(barrier_, 128);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int i = box * 16 + half * 8;
                store_matrices(to + offset_[half], pack_pair<Output>(d[i], d[i + 1]),
                               pack_pair<Output>(d[i + 2], d[i + 3]),
                               pack_pair<Output>(d[i + 4], d[i + 5]),
                               pack_pair<Output>(d[i + 6], d[i + 7]));
            }
            fence_for_async();
            named_barrier(barrier_, 128);
            if (leader_) store_box(&map_, col + box * kColumns, row, to);
        }
    }
    // Before the block ends: its shared memory must stay until it has been read.
    __device__ void finish() const {
        if (leader_) wait_stores_read<0>();
    }

   private:
    std::uint32_t first_;
    const CUtensorMap& map_;
    int barrier_;
    bool leader_;
    int offset_[2];
    int turn_ = 0;
};

#endif

}  // namespace etalon::kernels::sm90
