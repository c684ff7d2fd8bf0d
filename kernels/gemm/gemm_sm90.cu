// GEMM on Hopper: TMA, mbarriers, wgmma.
//
// Tile 128 × 128 to 128 × 256, 128 bytes of K a stage under the 128-byte swizzle, 4 to 6 stages in
// 192 to 200 KiB of shared memory, one block an SM, a persistent grid. One thread keeps the ring
// full, also while the two consumer warpgroups store a finished tile. They take 64 rows each, or,
// in tiles of up to 192 columns, a tile each in turn, so that one stores while the other
// multiplies. Two blocks may form a cluster, one tile below the other: each loads half of B's rows
// for both. C goes through 24 KiB of shared memory by TMA, 32 columns at a time; where C's rows do
// not begin and end on 16 bytes, or its elements have 4, straight from registers.
//
// fp8: the tensor cores' accumulators keep about 14 bits, so the sum of every two stages, 256 of K,
// is added into fp32 registers, which doubles them: tiles up to 192 columns.
//
// Odd m, n and k cost nothing but the padding of the last tile: TMA reads zeros outside A and B,
// stores are clipped. A and B need a 16-byte aligned base and rows.
//
// Bounded by the tensor cores and, above about 0.5 ms, by the power cap; fp8's 128 × 128 tile by
// shared memory, which takes 80 KB a stage where the multiplication leaves time for 64. Predicted
// on an H200 at 8192 × 6144 × 4096, from 771 (bf16) and 1167 TFLOP/s (fp8) without multicast: 810
// and 1350. Reached 783 and 1415, cuBLASLt 826 and 1424: multicast is worth 1 %, tiles in turn
// another, and cuBLASLt's 176 columns fill the last wave better; two stages a sum and wider tiles
// gave fp8 its 20 %.
#include <cuda.h>

#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/gemm/sm90_accumulate.cuh"
#include "kernels/gemm/sm90_box_store.cuh"
#include "kernels/gemm/sm90_ring.cuh"

namespace etalon::kernels {
#ifdef ETALON_SM90A
namespace {

constexpr int kTileM = kSm90TileM;
constexpr int kRowBytes = kSm90StageBytes;
constexpr int kWarpgroups = 2;  // consumers, 64 rows of the tile each
constexpr int kConsumerWarps = kWarpgroups * 4;
constexpr int kThreads = kConsumerWarps * 32 + 128;  // the last four warps' first thread produces
constexpr int kSharedOfBlock = 227 * 1024;
constexpr int kTileAlignment = 1024;  // the swizzle follows address bits 7 to 9
constexpr int kStoreBytes = kWarpgroups * sm90::kBoxesOfWarpgroup * sm90::kBoxBytes;
constexpr unsigned kGroupRows = 16;  // tiles of a column that are in flight together

template <int kTileN>
struct Shape {
    static constexpr int kABytes = kTileM * kRowBytes;
    static constexpr int kStageBytes = kABytes + kTileN * kRowBytes;
    static constexpr int kStages =
        (kSharedOfBlock - kTileAlignment - kStoreBytes) / (kStageBytes + 16);
    static constexpr int kSharedBytes = kTileAlignment + kStoreBytes + kStages * (kStageBytes + 16);
    static_assert(kStageBytes % kTileAlignment == 0 && kTileN / 2 * kRowBytes % 1024 == 0);
};

struct Work {
    TileOrder order;  // in clusters' tiles: shared rows of tiles are one
    int k_blocks;
    int shared;         // 1, or 2: blocks of a cluster
    bool stores_boxes;  // else from registers
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// Tiles of one block: every gridDim-th cluster's.
struct Tiles {
    const Work& work;
    unsigned index;
    unsigned step;
    int rank;

    __device__ explicit Tiles(const Work& all)
        : work(all),
          index(blockIdx.x / all.shared),
          step(gridDim.x / all.shared),
          rank(static_cast<int>(blockIdx.x) % all.shared) {}
    __device__ bool more(unsigned ahead = 0) const {
        return index + ahead * step < work.order.count();
    }
    __device__ void next(unsigned count = 1) { index += count * step; }
    __device__ TileOrder::Tile tile() const {
        TileOrder::Tile of_cluster = work.order.at(index);
        of_cluster.m = of_cluster.m * work.shared + rank;
        return of_cluster;
    }
    // The block of the cluster that reads the same columns of C's tiles.
    __device__ int peer() const { return work.shared > 1 ? rank ^ 1 : -1; }
};

template <GemmType kType, int kTileN>
struct Producer {
    static constexpr int kElements =
        kRowBytes / static_cast<int>(sizeof(typename GemmTypes<kType>::Input));
    const CUtensorMap& a_map;
    const CUtensorMap& b_map;
    const sm90::Ring& ring;
    Tiles tiles;

    __device__ void load_a(int stage, int k, int row) const {
        sm90::barrier_arrive_expecting(ring.full(stage), Shape<kTileN>::kStageBytes);
        sm90::load_box(ring.a(stage), &a_map, k * kElements, row, ring.full(stage));
    }
    __device__ void load_b(int stage, int k, int row) const {
        if (tiles.work.shared == 1) {
            sm90::load_box(ring.b(stage), &b_map, k * kElements, row, ring.full(stage));
            return;
        }
        constexpr std::uint16_t kBoth = 3;
        const int half = tiles.rank * kTileN / 2;
        sm90::load_box_multicast(ring.b(stage) + half * kRowBytes, &b_map, k * kElements,
                                 row + half, ring.full(stage), kBoth);
    }
    __device__ int primed() const { return min(ring.stages, tiles.work.k_blocks); }

    // Begins to fill the empty ring, before the block and its peer have met.
    __device__ void prime() const {
        const auto tile = tiles.tile();
        for (int k = 0; k < primed(); ++k) {
            load_a(k, k, static_cast<int>(tile.m) * kTileM);
        }
    }
    __device__ void run() {
        sm90::Cursor at{ring.stages};
        for (int done = primed(); tiles.more(); tiles.next(), done = 0) {
            const auto tile = tiles.tile();
            const int row_a = static_cast<int>(tile.m) * kTileM;
            const int row_b = static_cast<int>(tile.n) * kTileN;
            for (int k = 0; k < tiles.work.k_blocks; ++k) {
                if (k >= done) {
                    sm90::barrier_wait(ring.empty(at.stage), at.phase ^ 1);
                    load_a(at.stage, k, row_a);
                }
                load_b(at.stage, k, row_b);
                at.advance();
            }
        }
    }
};

template <GemmType kType, int kTileN>
__device__ void sum_in_pairs(float (&d)[kTileN / 2], const sm90::Ring& ring, int a_offset,
                             int k_blocks, sm90::Cursor& at, int peer) {
    float pair[kTileN / 2];
#pragma unroll
    for (float& sum : d) sum = 0.0F;
    const auto multiply = [&](int stage, bool keep) {
        sm90::multiply_stage<kType, kTileN>(pair, ring.a(stage) + a_offset, ring.b(stage), keep);
    };
    sm90::accumulate_in_pairs(ring, k_blocks, at, peer, multiply, [&] {
        sm90::pin(pair);
#pragma unroll
        for (int i = 0; i < kTileN / 2; ++i) d[i] += pair[i];
    });
}

template <GemmType kType, int kTileN, typename Output>
__device__ void consume(Tiles tiles, const sm90::Ring& ring, std::uint32_t boxes,
                        const CUtensorMap& c_map, const TileOutput<Output>& out) {
    using Accumulator = typename GemmTypes<kType>::Accumulator;
    const int warpgroup = static_cast<int>(threadIdx.x) / 128;
    const int row_of_warp = static_cast<int>(threadIdx.x) / 32 * 16;  // four warps to 64 rows
    const int a_offset = warpgroup * 64 * kRowBytes;
    sm90::Cursor at{Shape<kTileN>::kStages};
    sm90::BoxStore<Output> store(boxes, c_map, warpgroup);
    for (; tiles.more(); tiles.next()) {
        const auto tile = tiles.tile();
        const int row = static_cast<int>(tile.m) * kTileM;
        const int col = static_cast<int>(tile.n) * kTileN;
        Accumulator d[kTileN / 2];
        if constexpr (kType == GemmType::fp8) {
            sum_in_pairs<kType, kTileN>(d, ring, a_offset, tiles.work.k_blocks, at, tiles.peer());
        } else {
            const auto multiply = [&](int stage, bool keep) {
                sm90::multiply_stage<kType, kTileN>(d, ring.a(stage) + a_offset, ring.b(stage),
                                                    keep);
            };
            sm90::accumulate(ring, tiles.work.k_blocks, at, tiles.peer(), multiply);
            sm90::pin(d);
        }
        if constexpr (sizeof(Output) == 2) {
            if (tiles.work.stores_boxes) {
                store.store(d, row + warpgroup * 64, col);
                continue;
            }
        }
        store_rows(d, out, row + row_of_warp, col);
    }
    store.finish();
}

// The warpgroups take tiles in turn, so one stores while the other multiplies.
template <GemmType kType, int kTileN, typename Output>
__device__ void consume_in_turn(Tiles tiles, const sm90::Ring& ring, std::uint32_t boxes,
                                const CUtensorMap& c_map, const TileOutput<Output>& out) {
    using Accumulator = typename GemmTypes<kType>::Accumulator;
    const int warpgroup = static_cast<int>(threadIdx.x) / 128;
    const int row_of_warp = static_cast<int>(threadIdx.x) % 128 / 32 * 16;
    const int k_blocks = tiles.work.k_blocks;
    // A parity tells one round of the ring from the next, not from the one after that: a warpgroup
    // may look at its stages once the other has seen all of its own.
    constexpr int kTurn = 1 + kWarpgroups;  // named barriers, after those of BoxStore
    sm90::Cursor at{Shape<kTileN>::kStages};
    sm90::BoxStore<Output> store(boxes, c_map, warpgroup);
    bool first = warpgroup == 0;
    if (warpgroup == 1) {
        tiles.next();
        at.skip(k_blocks);
    }
    for (; tiles.more(); tiles.next(2), at.skip(k_blocks)) {
        const auto tile = tiles.tile();
        const int row = static_cast<int>(tile.m) * kTileM;
        const int col = static_cast<int>(tile.n) * kTileN;
        Accumulator upper[kTileN / 2];
        Accumulator lower[kTileN / 2];
        if (!first) sm90::named_barrier(kTurn + warpgroup, kWarpgroups * 128);
        first = false;
        const auto multiply = [&](int stage, bool keep) {
            constexpr int kLower = 64 * kRowBytes;
            sm90::wgmma_fence();
            sm90::multiply_rows<kType, kTileN>(upper, ring.a(stage), ring.b(stage), keep);
            sm90::multiply_rows<kType, kTileN>(lower, ring.a(stage) + kLower, ring.b(stage), keep);
            sm90::wgmma_commit();
        };
        sm90::accumulate(ring, k_blocks, at, tiles.peer(), multiply, [&] {
            if (tiles.more(1)) sm90::named_arrive(kTurn + 1 - warpgroup, kWarpgroups * 128);
        });
        sm90::pin(upper);
        sm90::pin(lower);
        if (tiles.work.stores_boxes) {
            store.store(upper, row, col);
            store.store(lower, row + 64, col);
        } else {
            store_rows(upper, out, row + row_of_warp, col);
            store_rows(lower, out, row + 64 + row_of_warp, col);
        }
    }
    store.finish();
}

#endif

template <GemmType kType, int kTileN, bool kInTurn>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_sm90_kernel(const __grid_constant__ CUtensorMap a_map,
                     const __grid_constant__ CUtensorMap b_map,
                     const __grid_constant__ CUtensorMap c_map, Work work,
                     TileOutput<typename GemmTypes<kType>::Output> out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    using Of = Shape<kTileN>;
    constexpr int kReleases = kInTurn ? kConsumerWarps / kWarpgroups : kConsumerWarps;
    constexpr int kProducerRegisters = 40;
    constexpr int kConsumerRegisters = 232;
    extern __shared__ unsigned char dynamic_shared[];
    const std::uint32_t boxes = (sm90::shared_address(dynamic_shared) + kTileAlignment - 1) /
                                kTileAlignment * kTileAlignment;
    const sm90::Ring ring{boxes + kStoreBytes, Of::kABytes, Of::kStageBytes, Of::kStages};
    Producer<kType, kTileN> producer{a_map, b_map, ring, Tiles(work)};
    const bool produces = threadIdx.x == kConsumerWarps * 32;
    if (threadIdx.x / 32 == kConsumerWarps) {
        ring.init_barriers(kReleases * work.shared);
        if (produces) producer.prime();
    }
    __syncthreads();
    if (work.shared > 1) {  // the other block's barriers are ready
        sm90::cluster_arrive_relaxed();
        sm90::cluster_wait();
    }
    if (threadIdx.x / 32 >= kConsumerWarps) {
        sm90::give_registers<kProducerRegisters>();
        if (produces) producer.run();
        __syncwarp();
    } else {
        sm90::take_registers<kConsumerRegisters>();
        if constexpr (kInTurn) {
            consume_in_turn<kType, kTileN>(Tiles(work), ring, boxes, c_map, out);
        } else {
            consume<kType, kTileN>(Tiles(work), ring, boxes, c_map, out);
        }
    }
    if (work.shared > 1) {  // no block leaves while the other may write or arrive here
        sm90::cluster_arrive_relaxed();
        sm90::cluster_wait();
    }
#else
    __trap();  // select_gemm() offers this kernel to sm_90a builds only
#endif
}

template <GemmType kType, int kTileN, bool kInTurn>
cudaError_t prepare() {
    return cudaFuncSetAttribute(gemm_sm90_kernel<kType, kTileN, kInTurn>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                Shape<kTileN>::kSharedBytes);
}

CUtensorMap encoded(const TensorMap& map) {
    CUtensorMap copy;
    static_assert(sizeof(copy) == sizeof(map));
    std::memcpy(&copy, &map, sizeof(copy));
    return copy;
}

template <GemmType kType, int kTileN, bool kInTurn>
cudaError_t launch(const GemmLaunch& gemm, cudaStream_t stream) {
    using Types = GemmTypes<kType>;
    const int shared = gemm.schedule.shared;
    constexpr std::int64_t kElements = kRowBytes / static_cast<int>(sizeof(typename Types::Input));
    const Work work{
        tile_order(gemm.args, kTileM * shared, kTileN, kGroupRows / static_cast<unsigned>(shared)),
        static_cast<int>((gemm.args.k + kElements - 1) / kElements), shared,
        can_store_by_map(gemm.args)};
    const unsigned clusters =
        std::min(work.order.count(), static_cast<unsigned>(gemm.multiprocessors / shared));

    cudaLaunchAttribute of_cluster{};
    of_cluster.id = cudaLaunchAttributeClusterDimension;
    of_cluster.val.clusterDim = {static_cast<unsigned>(shared), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = {clusters * static_cast<unsigned>(shared), 1, 1};
    config.blockDim = {kThreads, 1, 1};
    config.dynamicSmemBytes = Shape<kTileN>::kSharedBytes;
    config.stream = stream;
    config.attrs = &of_cluster;
    config.numAttrs = shared > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, gemm_sm90_kernel<kType, kTileN, kInTurn>,
                              encoded(gemm.a_map), encoded(gemm.b_map), encoded(gemm.c_map), work,
                              tile_output<typename Types::Output>(gemm.args));
}

template <GemmType kType, int kTileN, bool kInTurn = false>
const GemmKernel* kernel(const char* name) {
    static const GemmKernel of_tile{name,
                                    kTileM,
                                    kTileN,
                                    true,
                                    false,
                                    prepare<kType, kTileN, kInTurn>,
                                    launch<kType, kTileN, kInTurn>};
    return &of_tile;
}

#define ETALON_TILE(type, n, k) \
    case n:                     \
        return kernel<GemmType::type, n>("sm90_wgmma_" #type "_128x" #n "x" #k)
#define ETALON_TILE_IN_TURN(type, n, k) \
    case n:                             \
        return kernel<GemmType::type, n, true>("sm90_wgmma_in_turn_" #type "_128x" #n "x" #k)

template <GemmType>
const GemmKernel* of_type(int tile_n);
template <GemmType>
const GemmKernel* in_turn_of_type(int tile_n);
#define ETALON_TILES(function, type, ...)                    \
    template <>                                              \
    const GemmKernel* function<GemmType::type>(int tile_n) { \
        switch (tile_n) { __VA_ARGS__; }                     \
        return nullptr;                                      \
    }
ETALON_TILES(of_type, bf16, ETALON_TILE(bf16, 128, 64); ETALON_TILE(bf16, 160, 64);
             ETALON_TILE(bf16, 192, 64); ETALON_TILE(bf16, 224, 64); ETALON_TILE(bf16, 256, 64))
ETALON_TILES(of_type, fp16, ETALON_TILE(fp16, 128, 64); ETALON_TILE(fp16, 160, 64);
             ETALON_TILE(fp16, 192, 64); ETALON_TILE(fp16, 224, 64); ETALON_TILE(fp16, 256, 64))
ETALON_TILES(of_type, fp8, ETALON_TILE(fp8, 128, 128); ETALON_TILE(fp8, 160, 128);
             ETALON_TILE(fp8, 192, 128))
ETALON_TILES(of_type, tf32, ETALON_TILE(tf32, 128, 32); ETALON_TILE(tf32, 256, 32))
ETALON_TILES(of_type, int8, ETALON_TILE(int8, 128, 128); ETALON_TILE(int8, 256, 128))
ETALON_TILES(in_turn_of_type, bf16, ETALON_TILE_IN_TURN(bf16, 128, 64);
             ETALON_TILE_IN_TURN(bf16, 160, 64); ETALON_TILE_IN_TURN(bf16, 192, 64))
ETALON_TILES(in_turn_of_type, fp16, ETALON_TILE_IN_TURN(fp16, 128, 64);
             ETALON_TILE_IN_TURN(fp16, 160, 64); ETALON_TILE_IN_TURN(fp16, 192, 64))

}  // namespace
#endif

const GemmKernel* sm90_kernel(GemmType type, int tile_n) {
#ifdef ETALON_SM90A
    switch (type) {
        case GemmType::bf16:
            return of_type<GemmType::bf16>(tile_n);
        case GemmType::fp16:
            return of_type<GemmType::fp16>(tile_n);
        case GemmType::fp8:
            return of_type<GemmType::fp8>(tile_n);
        case GemmType::tf32:
            return of_type<GemmType::tf32>(tile_n);
        case GemmType::int8:
            return of_type<GemmType::int8>(tile_n);
        case GemmType::fp32:
            break;
    }
#else
    (void)type;
    (void)tile_n;
#endif
    return nullptr;
}

const GemmKernel* sm90_in_turn_kernel(GemmType type, int tile_n) {
#ifdef ETALON_SM90A
    if (type == GemmType::bf16) return in_turn_of_type<GemmType::bf16>(tile_n);
    if (type == GemmType::fp16) return in_turn_of_type<GemmType::fp16>(tile_n);
#else
    (void)type;
    (void)tile_n;
#endif
    return nullptr;
}

}  // namespace etalon::kernels
