// GEMM on Hopper for 1 to 64 rows of A (the tokens of a decode step): a stream of B's rows (the
// weights) through shared memory.
//
// The operands are exchanged: 64 or 128 rows of B fill wgmma's M, the tokens, rounded up to 8, 16,
// 32 or 64, are its N. A block sums one tile over its part of K and ends; several are at home on an
// SM, and rings of 4 to 12 stages of 8 or 16 KiB keep about 100 KB in flight on each. The blocks of
// a cluster split K: each leaves its sum in shared memory and adds a share of the tile from all of
// them in the order of their rank, so the result does not change from run to run.
//
// fp8: the sum of every two stages is added into fp32 registers, since the tensor cores' own
// accumulator is narrow. Odd m, n and k: TMA reads zeros outside A and B, stores are predicated. A
// and B need a 16-byte aligned base and rows.
//
// Bounded by reading B. Predicted on an H200, cold L2: bytes / 4.3 TB/s + 3 µs, so 57 µs for
// 28672 × 4096 bf16, 11 for 4096 × 4096, 30 for 4096 × 14336. Reached with 1 to 16 tokens: 61, 15.0
// and 34.0, where cuBLASLt takes 58.9, 15.9 and 34.3: the rate was right (4.2 TB/s at 57344 ×
// 8192), but a launch that reads next to nothing takes 5 µs of an event pair's time, not 3, and the
// first bytes of each block another 2. Sharing the tokens among neighbouring tiles by multicast,
// hints to L2 and more than about 100 KB in flight gained nothing.
#include <cuda.h>

#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/gemm/sm90_accumulate.cuh"
#include "kernels/gemm/sm90_ring.cuh"

namespace etalon::kernels {
#ifdef ETALON_SM90A
namespace {

constexpr int kRowBytes = kSm90StageBytes;
constexpr int kTileAlignment = 1024;  // the swizzle follows address bits 7 to 9
constexpr int kSharedOfBlock = 227 * 1024;

template <int kTokens, int kRows>
struct Shape {
    static constexpr int kConsumers = kRows * 2;  // a warpgroup for 64 rows
    static constexpr int kThreads = kConsumers + 32;
    static constexpr int kRowsBytes = kRows * kRowBytes;
    static constexpr int kTokensBytes = kTokens * kRowBytes;
    static constexpr int kStageBytes = kRowsBytes + kTokensBytes;
    static_assert(kStageBytes % kTileAlignment == 0);
    // The sums as the cluster reads them: a row for each token; the four floats more leave the
    // fragments' stores without bank conflicts.
    static constexpr int kPitch = kRows + 4;
    static constexpr int kSumBytes = kTokens * kPitch * 4;
    static constexpr int kLeastStages = 2;
    static_assert(kSumBytes <= kLeastStages * kStageBytes);
    // That registers allow at once.
    static constexpr int kBlocksPerSm = kTokens == 64 && kRows == 128 ? 2 : 3;

    static constexpr int shared_bytes(int stages) {
        return kTileAlignment + stages * (kStageBytes + 16);
    }
};

struct Work {
    int k_blocks;  // of all of K
    int tokens;
    int split;  // blocks of a cluster, each a part of K of one tile
    int stages;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// What one block does.
struct Place {
    int first_row, first_token;
    int k_begin, k_end;  // in stages
    int part;

    __device__ Place(const Work& work, int rows, int tokens)
        : first_row(static_cast<int>(blockIdx.x) / work.split * rows),
          first_token(static_cast<int>(blockIdx.y) * tokens),
          part(static_cast<int>(blockIdx.x) % work.split) {
        k_begin = work.k_blocks * part / work.split;
        k_end = work.k_blocks * (part + 1) / work.split;
    }
};

template <GemmType kType, int kTokens, int kRows>
struct Producer {
    static constexpr int kElements =
        kRowBytes / static_cast<int>(sizeof(typename GemmTypes<kType>::Input));
    const CUtensorMap& tokens_map;
    const CUtensorMap& rows_map;
    const Place& place;
    const sm90::Ring& ring;

    __device__ void load(int stage, int k) const {
        const std::uint32_t full = ring.full(stage);
        sm90::barrier_arrive_expecting(full, Shape<kTokens, kRows>::kStageBytes);
        sm90::load_box(ring.a(stage), &rows_map, k * kElements, place.first_row, full);
        sm90::load_box(ring.b(stage), &tokens_map, k * kElements, place.first_token, full);
    }
    // Fills the empty ring, before the block has met.
    __device__ void prime() const {
        const int count = min(ring.stages, place.k_end - place.k_begin);
        for (int i = 0; i < count; ++i) load(i, place.k_begin + i);
    }
    __device__ void run() const {
        sm90::Cursor at{ring.stages};
        for (int k = place.k_begin + ring.stages; k < place.k_end; ++k) {
            sm90::barrier_wait(ring.empty(at.stage), at.phase);
            load(at.stage, k);
            at.advance();
        }
    }
};

// Where there are few columns, two sums, of the even and of the odd steps: a wgmma would wait for
// the one before it.
template <GemmType kType, int kTokens>
__device__ void accumulate(float (&d)[kTokens / 2], const sm90::Ring& ring, const Place& place) {
    constexpr int kSteps = kRowBytes / 32;
    constexpr int kSums = kTokens < 64 ? 2 : 1;
    constexpr int kNoPeer = -1;
    const int k_blocks = place.k_end - place.k_begin;
    const std::uint32_t rows_offset = threadIdx.x / 128 * 64 * kRowBytes;
    float sums[kSums][kTokens / 2];
    const auto multiply = [&](int stage, bool keep) {
        const std::uint64_t rows = sm90::tile_descriptor(ring.a(stage) + rows_offset);
        const std::uint64_t tokens = sm90::tile_descriptor(ring.b(stage));
        sm90::wgmma_fence();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            sm90::Wgmma<kType, kTokens>::multiply(sums[step % kSums], rows + step * 2,
                                                  tokens + step * 2, keep || step >= kSums ? 1 : 0);
        }
        sm90::wgmma_commit();
    };
    const auto total = [&](int i) {
        return kSums == 2 ? sums[0][i] + sums[kSums - 1][i] : sums[0][i];
    };
    const auto pin = [&] {
#pragma unroll
        for (int i = 0; i < kSums; ++i) sm90::pin(sums[i]);
    };
    sm90::Cursor at{ring.stages};
    if constexpr (kType == GemmType::fp8) {
#pragma unroll
        for (float& sum : d) sum = 0.0F;
        sm90::accumulate_in_pairs(ring, k_blocks, at, kNoPeer, multiply, [&] {
            pin();
#pragma unroll
            for (int i = 0; i < kTokens / 2; ++i) d[i] += total(i);
        });
    } else {
        sm90::accumulate(ring, k_blocks, at, kNoPeer, multiply);
        pin();
#pragma unroll
        for (int i = 0; i < kTokens / 2; ++i) d[i] = total(i);
    }
}

// d[j·4 + h·2 + c] is row lane/4 + 8·h of the warp's 16, token 8·j + 2·(lane%4) + c.
template <int kTokens, int kRows>
__device__ void leave_sums(const float (&d)[kTokens / 2], float* sums) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < kTokens / 2; ++i) {
        const int token = i / 4 * 8 + lane % 4 * 2 + i % 2;
        sums[token * Shape<kTokens, kRows>::kPitch + row + i / 2 % 2 * 8] = d[i];
    }
}

__device__ inline void add(float* sum, const float4& part) {
    sum[0] += part.x;
    sum[1] += part.y;
    sum[2] += part.z;
    sum[3] += part.w;
}

// Adds the parts of this block's share of the tile, in their order, and stores it.
template <int kSplit, int kTokens, int kRows, typename Output>
__device__ void store_share(const Work& work, const Place& place, std::uint32_t sums,
                            const TileOutput<Output>& out) {
    using Of = Shape<kTokens, kRows>;
    constexpr int kChunk = 8;  // columns of C: 16 bytes
    constexpr int kChunksOfToken = kRows / kChunk;
    constexpr int kBatch = kSplit < 4 ? kSplit : 4;  // loads in flight: more take registers
    const int chunks = min(kTokens, work.tokens - place.first_token) * kChunksOfToken;
    const int end = chunks * (place.part + 1) / kSplit;
    for (int chunk = chunks * place.part / kSplit + static_cast<int>(threadIdx.x); chunk < end;
         chunk += Of::kConsumers) {
        const int token = chunk / kChunksOfToken;
        const int row = chunk % kChunksOfToken * kChunk;
        const std::uint32_t address = sums + (token * Of::kPitch + row) * 4;
        float sum[kChunk] = {};
#pragma unroll
        for (int first = 0; first < kSplit; first += kBatch) {
            float4 part[kBatch][2];
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                const std::uint32_t there =
                    kSplit == 1 ? address : sm90::in_block(address, first + i);
                part[i][0] = sm90::load_in_cluster(there);
                part[i][1] = sm90::load_in_cluster(there + 16);
            }
#pragma unroll
            for (int i = 0; i < kBatch; ++i) {
                add(sum, part[i][0]);
                add(sum + 4, part[i][1]);
            }
        }
        const std::uint32_t word[4] = {
            pack_pair<Output>(sum[0], sum[1]), pack_pair<Output>(sum[2], sum[3]),
            pack_pair<Output>(sum[4], sum[5]), pack_pair<Output>(sum[6], sum[7])};
        store_eight(out.c + (place.first_token + token) * out.ldc, place.first_row + row, word,
                    out);
    }
}

#endif

template <GemmType kType, int kTokens, int kRows>
__global__ void __launch_bounds__(Shape<kTokens, kRows>::kThreads,
                                  (Shape<kTokens, kRows>::kBlocksPerSm))
    gemm_sm90_decode_kernel(const __grid_constant__ CUtensorMap tokens_map,
                            const __grid_constant__ CUtensorMap rows_map, Work work,
                            TileOutput<typename GemmTypes<kType>::Output> out) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    using Of = Shape<kTokens, kRows>;
    extern __shared__ unsigned char dynamic_shared[];
    const std::uint32_t start = sm90::shared_address(dynamic_shared);
    const std::uint32_t aligned = (start + kTileAlignment - 1) / kTileAlignment * kTileAlignment;
    const sm90::Ring ring{aligned, Of::kRowsBytes, Of::kStageBytes, work.stages};
    const Place place(work, kRows, kTokens);
    const bool consumes = threadIdx.x < Of::kConsumers;
    const bool in_cluster = work.split > 1;
    const Producer<kType, kTokens, kRows> producer{tokens_map, rows_map, place, ring};
    const bool produces = threadIdx.x == Of::kConsumers;
    if (!consumes) {
        ring.init_barriers(Of::kConsumers / 32);
        if (produces) producer.prime();
    }
    __syncthreads();
    if (produces) producer.run();
    if (consumes) {
        float d[kTokens / 2];
        accumulate<kType, kTokens>(d, ring, place);
        sm90::named_barrier(1, Of::kConsumers);  // the sums lie where the ring was
        leave_sums<kTokens, kRows>(d, reinterpret_cast<float*>(dynamic_shared + (aligned - start)));
        sm90::named_barrier(1, Of::kConsumers);
    }
    __syncwarp();
    if (in_cluster) {
        sm90::cluster_arrive();
        sm90::cluster_wait();
    }
    if (consumes) {
        if (work.split == 1) store_share<1, kTokens, kRows>(work, place, aligned, out);
        if (work.split == 2) store_share<2, kTokens, kRows>(work, place, aligned, out);
        if (work.split == 4) store_share<4, kTokens, kRows>(work, place, aligned, out);
        if (work.split == 8) store_share<8, kTokens, kRows>(work, place, aligned, out);
    }
    __syncwarp();
    if (in_cluster) {  // no block leaves while another reads its sums
        sm90::cluster_arrive_relaxed();
        sm90::cluster_wait();
    }
#else
    __trap();  // select_gemm() offers this kernel to sm_90a builds only
#endif
}

template <GemmType kType, int kTokens, int kRows>
cudaError_t prepare() {
    const auto kernel = gemm_sm90_decode_kernel<kType, kTokens, kRows>;
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedOfBlock);
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                cudaSharedmemCarveoutMaxShared);
}

// No more than fit, or than there are to load.
template <int kTokens, int kRows>
int stages(int wanted, int k_blocks_of_part) {
    using Of = Shape<kTokens, kRows>;
    constexpr int kFit = (kSharedOfBlock - Of::shared_bytes(0)) / (Of::kStageBytes + 16);
    return std::clamp(std::min(wanted, k_blocks_of_part), Of::kLeastStages, kFit);
}

template <GemmType kType, int kTokens, int kRows>
cudaError_t launch(const GemmLaunch& gemm, cudaStream_t stream) {
    using Types = GemmTypes<kType>;
    static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));
    const GemmSchedule& schedule = gemm.schedule;
    constexpr std::int64_t kElements = kRowBytes / static_cast<int>(sizeof(typename Types::Input));
    const int k_blocks = static_cast<int>((gemm.args.k + kElements - 1) / kElements);
    if (schedule.split > k_blocks) return cudaErrorInvalidValue;  // every part sums something
    const int part = (k_blocks + schedule.split - 1) / schedule.split;
    const Work work{k_blocks, static_cast<int>(gemm.args.m), schedule.split,
                    stages<kTokens, kRows>(schedule.stages, part)};
    const std::int64_t tiles = (gemm.args.n + kRows - 1) / kRows;

    CUtensorMap tokens_map;
    CUtensorMap rows_map;
    std::memcpy(&tokens_map, &gemm.a_map, sizeof(tokens_map));
    std::memcpy(&rows_map, &gemm.b_map, sizeof(rows_map));
    cudaLaunchAttribute of_cluster{};
    of_cluster.id = cudaLaunchAttributeClusterDimension;
    of_cluster.val.clusterDim = {static_cast<unsigned>(work.split), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = {static_cast<unsigned>(tiles * work.split),
                      static_cast<unsigned>((gemm.args.m + kTokens - 1) / kTokens), 1};
    config.blockDim = {Shape<kTokens, kRows>::kThreads, 1, 1};
    config.dynamicSmemBytes = Shape<kTokens, kRows>::shared_bytes(work.stages);
    config.stream = stream;
    config.attrs = &of_cluster;
    config.numAttrs = work.split > 1 ? 1 : 0;
    return cudaLaunchKernelEx(&config, gemm_sm90_decode_kernel<kType, kTokens, kRows>, tokens_map,
                              rows_map, work, tile_output<typename Types::Output>(gemm.args));
}

template <GemmType kType, int kTokens, int kRows>
const GemmKernel* kernel(const char* name) {
    static const GemmKernel of_tile{name,
                                    kTokens,
                                    kRows,
                                    true,
                                    true,
                                    prepare<kType, kTokens, kRows>,
                                    launch<kType, kTokens, kRows>};
    return &of_tile;
}

// The name's numbers: rows of B, tokens, elements of K in a stage.
#define ETALON_DECODE(type, tokens, rows, k) \
    kernel<GemmType::type, tokens, rows>("sm90_decode_" #type "_" #rows "x" #tokens "x" #k)
#define ETALON_DECODE_TOKENS(type, rows, k)          \
    switch (tokens) {                                \
        case 8:                                      \
            return ETALON_DECODE(type, 8, rows, k);  \
        case 16:                                     \
            return ETALON_DECODE(type, 16, rows, k); \
        case 32:                                     \
            return ETALON_DECODE(type, 32, rows, k); \
        case 64:                                     \
            return ETALON_DECODE(type, 64, rows, k); \
    }                                                \
    return nullptr
#define ETALON_DECODE_TYPE(type, k)         \
    if (rows == 64) {                       \
        ETALON_DECODE_TOKENS(type, 64, k);  \
    }                                       \
    if (rows == 128) {                      \
        ETALON_DECODE_TOKENS(type, 128, k); \
    }                                       \
    return nullptr

}  // namespace
#endif

const GemmKernel* sm90_decode_kernel(GemmType type, int tokens, int rows) {
#ifdef ETALON_SM90A
    switch (type) {
        case GemmType::bf16:
            ETALON_DECODE_TYPE(bf16, 64);
        case GemmType::fp16:
            ETALON_DECODE_TYPE(fp16, 64);
        case GemmType::fp8:
            ETALON_DECODE_TYPE(fp8, 128);
        case GemmType::tf32:
        case GemmType::fp32:
        case GemmType::int8:
            break;
    }
#else
    (void)type;
    (void)tokens;
    (void)rows;
#endif
    return nullptr;
}

}  // namespace etalon::kernels
