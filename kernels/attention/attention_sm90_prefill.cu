// Attention of a prompt on Hopper: TMA, wgmma for both products, a producer warp and two consumer
// warpgroups.
//
// A tile is 128 queries of a head, 64 for each warpgroup, against 128 keys at a time; a persistent
// grid takes the tiles longest first, so that causal rows even out. Keys and values have a ring of
// two stages each (four at head_dim 64), the queries a buffer of their own. Weights stay in
// registers as the A operand of the second product. Two overlaps: the next scores are under way
// while the values of these are added; and named barriers let one warpgroup issue its products
// while the other does its exponentials. Only tiles that the mask's edge runs through are masked;
// those behind it are not read.
//
// Sequences may be packed: the copy engine counts tokens, not sequences, and scores of another
// sequence's keys are masked. Values past the end are another sequence's (0 · NaN is NaN: they must
// be finite) or zeros past the tensor's.
//
// Bounded by the tensor cores and the power cap. Predicted on an H200, bf16, head_dim 128: 600
// TFLOP/s at 4 × 4096 causal, 650 not causal. Reached: see results/recorded.
#include <cuda.h>

#include <algorithm>

#include "kernels/attention/attention_place.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/attention/sm90_wgmma_values.cuh"
#include "kernels/common/sm90_ptx.cuh"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/gemm/sm90_wgmma.cuh"

namespace etalon::kernels {
#ifdef ETALON_SM90A
namespace {

constexpr int kTileQueries = 128;
constexpr int kTileKeys = 128;
constexpr int kWarpgroups = 2;
constexpr int kThreads = (kWarpgroups + 1) * 128;
constexpr int kAlignment = 1024;
constexpr float kLog2e = 1.44269504F;

template <int kDim>
struct Shape {
    static constexpr int kSlabs = kDim / 64;
    static constexpr int kSlabBytes = kTileKeys * 128;  // 64 elements of 128 tokens
    static constexpr int kTileBytes = kSlabs * kSlabBytes;
    static constexpr int kStages = kDim > 64 ? 2 : 4;  // of keys, and of values
    static constexpr int kSharedBytes = kAlignment + kTileBytes * (1 + 2 * kStages) + 256;
};

struct Work {
    AttentionArgs args;
    int row_tiles;  // of the longest sequence
    int tiles;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A tile's place, and the keys that it reads.
struct Tile {
    int b, head, row;  // row: first query
    int first, last;   // tiles of keys: [first, last)
    AttentionSequence of;

    __device__ Tile(const Work& work, int index) : Tile(work, index, index / columns(work)) {}

   private:
    __device__ static int columns(const Work& work) {
        return static_cast<int>(work.args.heads * work.args.batch);
    }
    // Last rows of all heads first: under a causal mask they see most. Heads that share keys and
    // values follow each other.
    __device__ Tile(const Work& work, int index, int from_end)
        : b(index % columns(work) / static_cast<int>(work.args.heads)),
          head(index % static_cast<int>(work.args.heads)),
          row((work.row_tiles - 1 - from_end) * kTileQueries),
          of(work.args, b) {
        const int stop = min(row + kTileQueries, of.queries) - 1;
        first = last = 0;
        if (row >= of.queries) return;
        const int high = of.high(work.args, stop);
        first = of.low(work.args, row) / kTileKeys;
        last = max(first, (high + kTileKeys - 1) / kTileKeys);
    }
};

struct Places {
    std::uint32_t q, k, v;   // shared addresses; stages follow each other
    std::uint32_t barriers;  // q full, q empty, then full and empty of each stage of k, and of v
    __device__ std::uint32_t q_full() const { return barriers; }
    __device__ std::uint32_t q_empty() const { return barriers + 8; }
    __device__ std::uint32_t k_full(int stage) const { return barriers + 16 + stage * 16; }
    __device__ std::uint32_t k_empty(int stage) const { return k_full(stage) + 8; }
    template <int kStages>
    __device__ std::uint32_t v_full(int stage) const {
        return k_full(kStages + stage);
    }
    template <int kStages>
    __device__ std::uint32_t v_empty(int stage) const {
        return k_empty(kStages + stage);
    }
};

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

template <int kDim>
__device__ void produce(const Work& work, const CUtensorMap& q_map, const CUtensorMap& k_map,
                        const CUtensorMap& v_map, const Places& places) {
    using Of = Shape<kDim>;
    const AttentionArgs& args = work.args;
    const int group = static_cast<int>(args.heads / args.kv_heads);
    Cursor<Of::kStages> k_at, v_at;
    std::uint32_t q_phase = 0;
    const auto load = [](std::uint32_t to, const CUtensorMap& map, int head, std::int64_t token,
                         int b, std::uint32_t full) {
        sm90::barrier_arrive_expecting(full, Of::kTileBytes);
#pragma unroll
        for (int s = 0; s < Of::kSlabs; ++s) {
            sm90::load_box(to + s * Of::kSlabBytes, &map, s * 64, head, static_cast<int>(token), b,
                           full);
        }
    };
    for (int index = static_cast<int>(blockIdx.x); index < work.tiles;
         index += static_cast<int>(gridDim.x)) {
        const Tile tile(work, index);
        if (tile.first == tile.last) continue;
        const int q_b = args.query_starts != nullptr ? 0 : tile.b;
        const int k_b = args.key_starts != nullptr ? 0 : tile.b;
        const int kv_head = tile.head / group;
        const auto load_k = [&](int j) {
            sm90::barrier_wait(places.k_empty(k_at.stage), k_at.phase ^ 1);
            load(places.k + k_at.stage * Of::kTileBytes, k_map, kv_head,
                 tile.of.first_key + j * kTileKeys, k_b, places.k_full(k_at.stage));
            k_at.advance();
        };
        const auto load_v = [&](int j) {
            sm90::barrier_wait(places.v_empty<Of::kStages>(v_at.stage), v_at.phase ^ 1);
            load(places.v + v_at.stage * Of::kTileBytes, v_map, kv_head,
                 tile.of.first_key + j * kTileKeys, k_b, places.v_full<Of::kStages>(v_at.stage));
            v_at.advance();
        };
        sm90::barrier_wait(places.q_empty(), q_phase ^ 1);
        load(places.q, q_map, tile.head, tile.of.first_query + tile.row, q_b, places.q_full());
        q_phase ^= 1;
        // In the order of use: the scores of the next tile come before the values of this one.
        load_k(tile.last - 1);
        for (int j = tile.last - 2; j >= tile.first; --j) {
            load_k(j);
            load_v(j + 1);
        }
        load_v(tile.first);
    }
}

template <typename T>
constexpr GemmType kGemmType = std::is_same_v<T, __half> ? GemmType::fp16 : GemmType::bf16;

__device__ inline float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// One warpgroup's 64 rows of a tile.
template <typename T, int kDim>
struct Consumer {
    using Of = Shape<kDim>;
    static constexpr int kScores = kTileKeys / 2;
    const Work& work;
    const Places& places;
    int warpgroup;
    Cursor<Of::kStages> k_at, v_at;
    std::uint32_t q_phase = 0;
    float scale_log2;
    float out[kDim / 2];
    float score[kScores];
    std::uint32_t weights[kTileKeys / 16][4];
    float maximum[2], sum[2];  // of rows lane/4 and + 8; sums of this lane's columns

    __device__ void start_scores() {
        const std::uint64_t q = sm90::tile_descriptor(places.q + warpgroup * 64 * 128);
        const std::uint64_t k = sm90::tile_descriptor(places.k + k_at.stage * Of::kTileBytes);
        sm90::wgmma_fence();
#pragma unroll
        for (int step = 0; step < kDim / 16; ++step) {
            const int at = (step / 4 * Of::kSlabBytes + step % 4 * 32) >> 4;
            sm90::Wgmma<kGemmType<T>, kTileKeys>::multiply(score, q + at, k + at, step > 0 ? 1 : 0);
        }
        sm90::wgmma_commit();
    }
    __device__ void start_values() {
        const std::uint64_t v =
            sm90::rows_descriptor(places.v + v_at.stage * Of::kTileBytes, Of::kSlabBytes);
        sm90::wgmma_fence();
#pragma unroll
        for (int step = 0; step < kTileKeys / 16; ++step) {
            sm90::WgmmaValues<T, kDim>::multiply(out, weights[step],
                                                 v + static_cast<std::uint64_t>(step) * 128);
        }
        sm90::wgmma_commit();
    }
    __device__ void release(std::uint32_t barrier) const {
        __syncwarp();
        if (threadIdx.x % 32 == 0) sm90::barrier_arrive(barrier);
    }
    __device__ void wait_k() {
        sm90::barrier_wait(places.k_full(k_at.stage), k_at.phase);
    }
    __device__ void wait_v() {
        sm90::barrier_wait(places.template v_full<Of::kStages>(v_at.stage), v_at.phase);
    }
    __device__ void release_k() {
        release(places.k_empty(k_at.stage));
        k_at.advance();
    }
    __device__ void release_v() {
        release(places.template v_empty<Of::kStages>(v_at.stage));
        v_at.advance();
    }
    // Turns of the warpgroups at the tensor cores.
    static constexpr int kTurn = 1;  // named barriers of the warpgroups
    __device__ void take_turn() const {
        sm90::named_barrier(kTurn + warpgroup, 256);
    }
    __device__ void give_turn() const {
        sm90::named_arrive(kTurn + (warpgroup ^ 1), 256);
    }

    __device__ void mask(const Tile& tile, int j) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int row =
            tile.row + warpgroup * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            // Columns of this lane below these are seen, and from those on.
            const int high = tile.of.high(work.args, row + 8 * h) - j * kTileKeys - lane % 4 * 2;
            const int low = tile.of.low(work.args, row + 8 * h) - j * kTileKeys - lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < kTileKeys / 8; ++i) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    if (8 * i + c >= high || 8 * i + c < low) score[i * 4 + h * 2 + c] = -INFINITY;
                }
            }
        }
    }
    // Does the mask's edge run through these keys, for any row of the tile?
    __device__ bool needs_mask(const Tile& tile, int j) const {
        const int end = (j + 1) * kTileKeys;
        return end > tile.of.high(work.args, tile.row) ||
               (work.args.window > 0 &&
                j * kTileKeys < tile.of.low(work.args, tile.row + kTileQueries - 1));
    }

    // Scores become weights; `keep` is what sums so far are multiplied by.
    __device__ void exponentiate(float (&keep)[2]) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float most = maximum[h];
#pragma unroll
            for (int i = 0; i < kTileKeys / 8; ++i) {
                most = fmaxf(most, fmaxf(score[i * 4 + h * 2], score[i * 4 + h * 2 + 1]));
            }
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 2));
            const float subtract = most == -INFINITY ? 0.0F : most * scale_log2;
            keep[h] = exp2_fast(maximum[h] * scale_log2 - subtract);
            maximum[h] = most;
            float total[2] = {};
#pragma unroll
            for (int i = 0; i < kTileKeys / 8; ++i) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    float& value = score[i * 4 + h * 2 + c];
                    value = exp2_fast(fmaf(value, scale_log2, -subtract));
                    total[c] += value;
                }
            }
            sum[h] = fmaf(sum[h], keep[h], total[0] + total[1]);
        }
    }
    __device__ void pack() {
#pragma unroll
        for (int step = 0; step < kTileKeys / 16; ++step) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                weights[step][i] =
                    pack_pair<T>(score[step * 8 + i * 2], score[step * 8 + i * 2 + 1]);
            }
        }
    }
    __device__ void rescale(const float (&keep)[2]) {
#pragma unroll
        for (int i = 0; i < kDim / 2; ++i) out[i] *= keep[i / 2 % 2];
    }

    __device__ void run(const Tile& tile) {
#pragma unroll
        for (float& value : out) value = 0;
        maximum[0] = maximum[1] = -INFINITY;
        sum[0] = sum[1] = 0;
        if (tile.first < tile.last) {
            accumulate(tile);
        }
        store(tile);
    }

    __device__ void accumulate(const Tile& tile) {
        float keep[2];
        sm90::barrier_wait(places.q_full(), q_phase);
        q_phase ^= 1;
        wait_k();
        start_scores();
        sm90::wgmma_wait<0>();
        sm90::pin(score);
        release_k();
        if (needs_mask(tile, tile.last - 1)) mask(tile, tile.last - 1);
        exponentiate(keep);
        pack();
        for (int j = tile.last - 2; j >= tile.first; --j) {
            wait_k();
            take_turn();
            start_scores();
            wait_v();
            start_values();
            give_turn();
            sm90::wgmma_wait<1>();
            sm90::pin(score);
            release_k();
            if (needs_mask(tile, j)) mask(tile, j);
            exponentiate(keep);
            sm90::wgmma_wait<0>();
            sm90::pin(out);
            release_v();
            rescale(keep);
            pack();
        }
        release(places.q_empty());
        wait_v();
        start_values();
        sm90::wgmma_wait<0>();
        sm90::pin(out);
        release_v();
    }

    __device__ void store(const Tile& tile) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float total = sum[h];
            total += __shfl_xor_sync(~0U, total, 1);
            total += __shfl_xor_sync(~0U, total, 2);
            const float inverse = total == 0 ? 0.0F : 1 / total;  // nothing seen: zeros
            const int row = tile.row + warpgroup * 64 + warp * 16 + lane / 4 + 8 * h;
            T* const to = static_cast<T*>(work.args.out) +
                          query_offset(work.args, work.args.out_at, tile.of, tile.b, tile.head,
                                       min(row, max(0, tile.of.queries - 1)));
#pragma unroll
            for (int i = 0; i < kDim / 32; ++i) {
                std::uint32_t word[4];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int at = (i * 4 + j) * 4 + h * 2;
                    word[j] = pack_pair<T>(out[at] * inverse, out[at + 1] * inverse);
                }
                transpose_quad(word, lane % 4);
                if (row < tile.of.queries) {
                    *reinterpret_cast<uint4*>(to + i * 32 + lane % 4 * 8) =
                        uint4{word[0], word[1], word[2], word[3]};
                }
            }
        }
    }
};
#endif

template <typename T, int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_prefill_kernel(const __grid_constant__ CUtensorMap q_map,
                             const __grid_constant__ CUtensorMap k_map,
                             const __grid_constant__ CUtensorMap v_map,
                             const __grid_constant__ Work work) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    using Of = Shape<kDim>;
    constexpr int kProducerRegisters = 40;
    constexpr int kConsumerRegisters = 232;
    extern __shared__ unsigned char dynamic_shared[];
    const std::uint32_t base =
        (sm90::shared_address(dynamic_shared) + kAlignment - 1) / kAlignment * kAlignment;
    const Places places{base, base + Of::kTileBytes, base + (1 + Of::kStages) * Of::kTileBytes,
                        base + (1 + 2 * Of::kStages) * Of::kTileBytes};
    if (threadIdx.x == 0) {
        sm90::barrier_init(places.q_full(), 1);
        sm90::barrier_init(places.q_empty(), kWarpgroups * 4);
        for (int stage = 0; stage < 2 * Of::kStages; ++stage) {
            sm90::barrier_init(places.k_full(stage), 1);
            sm90::barrier_init(places.k_empty(stage), kWarpgroups * 4);
        }
        sm90::barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x / 128 == kWarpgroups) {
        sm90::give_registers<kProducerRegisters>();
        if (threadIdx.x == kWarpgroups * 128) {
            produce<kDim>(work, q_map, k_map, v_map, places);
        }
        __syncwarp();
    } else {
        sm90::take_registers<kConsumerRegisters>();
        Consumer<T, kDim> consumer{.work = work,
                                   .places = places,
                                   .warpgroup = static_cast<int>(threadIdx.x) / 128,
                                   .scale_log2 = work.args.scale * kLog2e};
        if (consumer.warpgroup == 1) consumer.give_turn();  // to the first
        for (int index = static_cast<int>(blockIdx.x); index < work.tiles;
             index += static_cast<int>(gridDim.x)) {
            consumer.run(Tile(work, index));
        }
        // Every turn that was given is taken.
        if (consumer.warpgroup == 0) consumer.take_turn();
    }
#else
    __trap();  // AttentionPlan offers this kernel to sm_90a builds only
#endif
}

// [sequence][token][head][element], in boxes of 64 elements of 128 tokens of one head.
cudaError_t encode(TensorMap* map, const void* data, const AttentionStrides& at, std::int64_t dim,
                   std::int64_t heads, std::int64_t tokens, std::int64_t batch) {
    const auto bytes = [](std::int64_t elements) {
        return static_cast<std::uint64_t>(elements) * 2;
    };
    const std::uint64_t sizes[] = {
        static_cast<std::uint64_t>(dim), static_cast<std::uint64_t>(heads),
        static_cast<std::uint64_t>(tokens), static_cast<std::uint64_t>(batch)};
    // Of one sequence the step to the next is never taken; the encoder wants one all the same.
    const std::uint64_t strides[] = {bytes(at.head), bytes(at.token),
                                     bytes(batch > 1 ? at.batch : at.token)};
    const std::uint32_t box[] = {64, 1, kTileKeys, 1};
    return encode_tensor_map(map, {2, data, sizes, strides, box, false});
}

template <typename T, int kDim>
cudaError_t prepare(AttentionLaunch& launch) {
    const AttentionArgs& a = launch.args;
    // Where sequences are packed, how many tokens there are in all stands on the device; a box
    // never begins past the last sequence's, so the bound may be generous.
    const bool packed_q = a.query_starts != nullptr, packed_k = a.key_starts != nullptr;
    cudaError_t error = encode(&launch.q_map, a.q, a.q_at, kDim, a.heads,
                               packed_q ? a.batch * a.queries : a.queries, packed_q ? 1 : a.batch);
    for (const bool keys : {true, false}) {
        if (error != cudaSuccess) return error;
        error =
            encode(keys ? &launch.k_map : &launch.v_map, keys ? a.k : a.v, keys ? a.k_at : a.v_at,
                   kDim, a.kv_heads, packed_k ? a.batch * a.keys : a.keys, packed_k ? 1 : a.batch);
    }
    if (error != cudaSuccess) return error;
    const std::int64_t tiles = (a.queries + kTileQueries - 1) / kTileQueries * a.heads * a.batch;
    launch.blocks = static_cast<int>(std::min<std::int64_t>(launch.multiprocessors, tiles));
    return cudaFuncSetAttribute(attention_prefill_kernel<T, kDim>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                Shape<kDim>::kSharedBytes);
}

CUtensorMap encoded(const TensorMap& map) {
    CUtensorMap copy;
    static_assert(sizeof(copy) == sizeof(map));
    std::memcpy(&copy, &map, sizeof(copy));
    return copy;
}

template <typename T, int kDim>
cudaError_t launch(const AttentionLaunch& with, cudaStream_t stream) {
    const AttentionArgs& args = with.args;
    const auto row_tiles = static_cast<int>((args.queries + kTileQueries - 1) / kTileQueries);
    const Work work{args, row_tiles, row_tiles * static_cast<int>(args.heads * args.batch)};
    attention_prefill_kernel<T, kDim>
        <<<static_cast<unsigned>(with.blocks), kThreads, Shape<kDim>::kSharedBytes, stream>>>(
            encoded(with.q_map), encoded(with.k_map), encoded(with.v_map), work);
    return cudaGetLastError();
}

template <typename T, int kDim>
const AttentionKernel* kernel(const char* name) {
    static const AttentionKernel of_dim{name, prepare<T, kDim>, nullptr, launch<T, kDim>};
    return &of_dim;
}

}  // namespace

const AttentionKernel* sm90_prefill_kernel(const AttentionArgs& args) {
    const auto aligned = [](const void* p, const AttentionStrides& at) {
        return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && at.token % 8 == 0 &&
               at.head % 8 == 0 && at.batch % 8 == 0;
    };
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const bool fits =
        args.type == args.query_type && args.head_dim == args.value_dim && args.pages == nullptr &&
        args.keys > 0 && aligned(args.q, args.q_at) && aligned(args.k, args.k_at) &&
        aligned(args.v, args.v_at) && aligned(args.out, args.out_at) &&
        (args.queries + kTileQueries - 1) / kTileQueries * args.heads * args.batch < most &&
        args.batch * args.queries < most && args.batch * args.keys < most;
    if (!fits) return nullptr;
    const bool wide = args.head_dim == 128;
    if (!wide && args.head_dim != 64) return nullptr;
    switch (args.type) {
        case AttentionType::bf16:
            return wide ? kernel<__nv_bfloat16, 128>("sm90_wgmma_bf16_128")
                        : kernel<__nv_bfloat16, 64>("sm90_wgmma_bf16_64");
        case AttentionType::fp16:
            return wide ? kernel<__half, 128>("sm90_wgmma_fp16_128")
                        : kernel<__half, 64>("sm90_wgmma_fp16_64");
        default:
            return nullptr;
    }
}

#else
const AttentionKernel* sm90_prefill_kernel(const AttentionArgs&) {
    return nullptr;
}
#endif

}  // namespace etalon::kernels
