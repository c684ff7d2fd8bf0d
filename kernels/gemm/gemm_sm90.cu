// GEMM on Hopper: TMA, mbarriers, wgmma.
//
// Tile 128 × 256 (4 stages) or 128 × 128 (6 stages), 128 bytes of K a stage under the 128-byte
// swizzle: 192 KiB of shared memory, one block an SM, a persistent grid. One producer warp keeps
// the ring full, also while the two consumer warpgroups, 64 rows each, store a finished tile. fp8
// has the narrow tile only: its accumulators keep about 14 bits, so each stage's sum is added into
// fp32 registers, which doubles them.
//
// Odd m, n and k cost nothing but the padding of the last tile: TMA reads zeros outside A and B,
// stores are predicated. A and B need a 16-byte aligned base and rows.
//
// Bounded by the tensor cores and, above about 0.5 ms, by the power cap. Predicted on an H200 at
// 8192³: bf16 and fp16 650 TFLOP/s, tf32 330, fp8 1000, int8 1200; below cuBLAS for want of cluster
// multicast and of a store through shared memory. Figure reached: see results/recorded.
#include <cuda.h>

#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/gemm/sm90_ptx.cuh"
#include "kernels/gemm/sm90_wgmma.cuh"

namespace etalon::kernels {
namespace {

constexpr int kTileM = kSm90TileM;
constexpr int kRowBytes = kSm90StageBytes;
constexpr int kConsumerWarps = 8;  // two warpgroups, 64 rows of the tile each
constexpr int kThreads = (kConsumerWarps + 1) * 32;
constexpr int kRingBytes = 192 * 1024;
constexpr int kTileAlignment = 1024;  // the swizzle follows address bits 7 to 9

template <int kTileN>
struct Ring {
    static constexpr int kABytes = kTileM * kRowBytes;
    static constexpr int kStageBytes = kABytes + kTileN * kRowBytes;
    static constexpr int kStages = kRingBytes / kStageBytes;
    static constexpr int kBarrierBytes = 2 * kStages * 8;
    static constexpr int kSharedBytes = kTileAlignment + kStages * kStageBytes + kBarrierBytes;

    std::uint32_t base;
    __device__ std::uint32_t a(int stage) const { return base + stage * kStageBytes; }
    __device__ std::uint32_t b(int stage) const { return a(stage) + kABytes; }
    __device__ std::uint32_t full(int stage) const {
        return base + kStages * kStageBytes + stage * 8;
    }
    __device__ std::uint32_t empty(int stage) const { return full(kStages + stage); }
};

// A place in the ring; `phase` flips each time round.
template <int kStages>
struct Cursor {
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ void advance() {
        if (++stage == kStages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

struct Work {
    TileOrder order;
    int k_blocks;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <GemmType kType, int kTileN>
__device__ void produce(const CUtensorMap& a_map, const CUtensorMap& b_map, const Work& work,
                        Ring<kTileN> ring) {
    constexpr int kElements =
        kRowBytes / static_cast<int>(sizeof(typename GemmTypes<kType>::Input));
    Cursor<Ring<kTileN>::kStages> at;
    for (unsigned index = blockIdx.x; index < work.order.count(); index += gridDim.x) {
        const auto tile = work.order.at(index);
        const int row_a = static_cast<int>(tile.m) * kTileM;
        const int row_b = static_cast<int>(tile.n) * kTileN;
        for (int k = 0; k < work.k_blocks; ++k) {
            sm90::barrier_wait(ring.empty(at.stage), at.phase ^ 1);  // passes in the first round
            sm90::barrier_arrive_expecting(ring.full(at.stage), Ring<kTileN>::kStageBytes);
            sm90::load_box(ring.a(at.stage), &a_map, k * kElements, row_a, ring.full(at.stage));
            sm90::load_box(ring.b(at.stage), &b_map, k * kElements, row_b, ring.full(at.stage));
            at.advance();
        }
    }
}

template <GemmType kType, int kTileN, typename Accumulator>
__device__ void multiply_stage(Accumulator (&d)[kTileN / 2], std::uint32_t a, std::uint32_t b,
                               bool keep) {
    constexpr int kStepBytes = 32;  // K of one wgmma, of any type
    constexpr int kSteps = kRowBytes / kStepBytes;
    const std::uint64_t a_tile = sm90::tile_descriptor(a);
    const std::uint64_t b_tile = sm90::tile_descriptor(b);
    sm90::wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        sm90::Wgmma<kType, kTileN>::multiply(d, a_tile + step * (kStepBytes >> 4),
                                             b_tile + step * (kStepBytes >> 4),
                                             (keep || step > 0) ? 1 : 0);
    }
    sm90::wgmma_commit();
}

// Every consumer warp says so by itself that it has read the stage.
template <int kTileN>
__device__ void release(Ring<kTileN> ring, int stage) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) sm90::barrier_arrive(ring.empty(stage));
}

// One group of wgmma stays in flight while the next stage is awaited.
template <GemmType kType, int kTileN, typename Accumulator>
__device__ void accumulate(Accumulator (&d)[kTileN / 2], Ring<kTileN> ring, int a_offset,
                           int k_blocks, Cursor<Ring<kTileN>::kStages>& at) {
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
        sm90::barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(d, ring.a(at.stage) + a_offset, ring.b(at.stage), k > 0);
        sm90::wgmma_wait<1>();
        if (k > 0) release(ring, previous);
        previous = at.stage;
        at.advance();
    }
    sm90::wgmma_wait<0>();
    sm90::pin(d);
    release(ring, previous);
}

// Adds each stage's sum into fp32 registers: the tensor cores' own accumulator is narrower. The
// other warpgroup keeps the tensor cores busy meanwhile.
template <GemmType kType, int kTileN>
__device__ void accumulate_promoted(float (&d)[kTileN / 2], Ring<kTileN> ring, int a_offset,
                                    int k_blocks, Cursor<Ring<kTileN>::kStages>& at) {
#pragma unroll
    for (float& sum : d) sum = 0.0F;
    float part[kTileN / 2] = {};
    for (int k = 0; k < k_blocks; ++k) {
        sm90::barrier_wait(ring.full(at.stage), at.phase);
        multiply_stage<kType, kTileN>(part, ring.a(at.stage) + a_offset, ring.b(at.stage), false);
        sm90::wgmma_wait<0>();
        sm90::pin(part);
        release(ring, at.stage);
#pragma unroll
        for (int i = 0; i < kTileN / 2; ++i) d[i] += part[i];
        at.advance();
    }
}

template <GemmType kType, int kTileN, typename Output>
__device__ void consume(const Work& work, Ring<kTileN> ring, const TileOutput<Output>& out) {
    using Accumulator = typename GemmTypes<kType>::Accumulator;
    const int warpgroup = static_cast<int>(threadIdx.x) / 128;
    const int row_in_tile = static_cast<int>(threadIdx.x) / 32 * 16;  // four warps to 64 rows
    Cursor<Ring<kTileN>::kStages> at;
    for (unsigned index = blockIdx.x; index < work.order.count(); index += gridDim.x) {
        const auto tile = work.order.at(index);
        Accumulator d[kTileN / 2] = {};
        if constexpr (kType == GemmType::fp8) {
            accumulate_promoted<kType, kTileN>(d, ring, warpgroup * 64 * kRowBytes, work.k_blocks,
                                               at);
        } else {
            accumulate<kType, kTileN>(d, ring, warpgroup * 64 * kRowBytes, work.k_blocks, at);
        }
        store_rows(d, out, static_cast<int>(tile.m) * kTileM + row_in_tile,
                   static_cast<int>(tile.n) * kTileN);
    }
}

#endif

template <GemmType kType, int kTileN>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_kernel(const __grid_constant__ CUtensorMap a_map,
                     const __grid_constant__ CUtensorMap b_map, Work work,
                     TileOutput<typename GemmTypes<kType>::Output> out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ unsigned char dynamic_shared[];
    const Ring<kTileN> ring{(sm90::shared_address(dynamic_shared) + kTileAlignment - 1) /
                            kTileAlignment * kTileAlignment};
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < Ring<kTileN>::kStages; ++stage) {
            sm90::barrier_init(ring.full(stage), 1);
            sm90::barrier_init(ring.empty(stage), kConsumerWarps);
        }
        sm90::barrier_init_fence();
        sm90::prefetch_map(&a_map);
        sm90::prefetch_map(&b_map);
    }
    __syncthreads();
    if (threadIdx.x / 32 == kConsumerWarps) {
        if (threadIdx.x % 32 == 0) produce<kType, kTileN>(a_map, b_map, work, ring);
    } else {
        consume<kType, kTileN>(work, ring, out);
    }
#else
    __trap();  // select_kernel() offers this kernel to sm_90a builds only
#endif
}

template <GemmType kType, int kTileN>
cudaError_t prepare() {
    return cudaFuncSetAttribute(gemm_sm90_kernel<kType, kTileN>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                Ring<kTileN>::kSharedBytes);
}

template <GemmType kType, int kTileN>
cudaError_t launch(const GemmLaunch& gemm, cudaStream_t stream) {
    using Types = GemmTypes<kType>;
    static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));
    CUtensorMap a_map;
    CUtensorMap b_map;
    std::memcpy(&a_map, &gemm.a_map, sizeof(a_map));
    std::memcpy(&b_map, &gemm.b_map, sizeof(b_map));
    constexpr std::int64_t kElements = kRowBytes / static_cast<int>(sizeof(typename Types::Input));
    const Work work{tile_order(gemm.args, kTileM, kTileN),
                    static_cast<int>((gemm.args.k + kElements - 1) / kElements)};
    const unsigned blocks =
        std::min(work.order.count(), static_cast<unsigned>(gemm.multiprocessors));
    gemm_sm90_kernel<kType, kTileN><<<blocks, kThreads, Ring<kTileN>::kSharedBytes, stream>>>(
        a_map, b_map, work, tile_output<typename Types::Output>(gemm.args));
    return cudaGetLastError();
}

template <GemmType kType, int kTileN>
const GemmKernel* kernel(const char* name) {
    static const GemmKernel of_tile{name, kTileN, true, prepare<kType, kTileN>,
                                    launch<kType, kTileN>};
    return &of_tile;
}

}  // namespace

const GemmKernel* sm90_kernel(GemmType type, int tile_n) {
#ifdef ETALON_SM90A
    const bool wide = tile_n == 256;
    switch (type) {
        case GemmType::bf16:
            return wide ? kernel<GemmType::bf16, 256>("sm90_wgmma_bf16_128x256x64")
                        : kernel<GemmType::bf16, 128>("sm90_wgmma_bf16_128x128x64");
        case GemmType::fp16:
            return wide ? kernel<GemmType::fp16, 256>("sm90_wgmma_fp16_128x256x64")
                        : kernel<GemmType::fp16, 128>("sm90_wgmma_fp16_128x128x64");
        case GemmType::tf32:
            return wide ? kernel<GemmType::tf32, 256>("sm90_wgmma_tf32_128x256x32")
                        : kernel<GemmType::tf32, 128>("sm90_wgmma_tf32_128x128x32");
        case GemmType::int8:
            return wide ? kernel<GemmType::int8, 256>("sm90_wgmma_int8_128x256x128")
                        : kernel<GemmType::int8, 128>("sm90_wgmma_int8_128x128x128");
        case GemmType::fp8:
            return wide ? nullptr : kernel<GemmType::fp8, 128>("sm90_wgmma_fp8_128x128x128");
        case GemmType::fp32:
            return nullptr;
    }
#else
    (void)type;
    (void)tile_n;
#endif
    return nullptr;
}

}  // namespace etalon::kernels
