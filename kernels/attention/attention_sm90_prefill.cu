// Attention of a prompt on Hopper: TMA, wgmma for both products, a producer warp and two consumer
// warpgroups.
//
// A tile is 128 queries of a head, 64 for each warpgroup, against 128 keys at a time (160 without a
// mask; 192 queries and three warpgroups at head_dim up to 64; 64 keys above 128). A persistent
// grid takes the tiles of as many heads as L2 holds, longest first, then those of the next. Keys
// and values have a ring of two stages each (four where they are small), the queries a buffer of
// their own. head_dim is a multiple of 8, padded with zeros by the copy engine. Weights stay in
// registers as the A operand of the second product. Two overlaps: the next scores are under way
// while the values of these are added; and named barriers let one warpgroup issue its products
// while the other does its exponentials. Only tiles that the mask's edge runs through are masked;
// those behind it are not read.
//
// Sequences may be packed: the copy engine counts tokens, not sequences; scores of another
// sequence's keys are masked, and values of theirs overwritten with zeros.
//
// Bounded by the tensor cores and the power cap. Predicted on an H200, bf16, head_dim 128: 600
// TFLOP/s at 4 × 4096 causal, 650 not causal. Reached, before heads went in sections: 529 and 584.
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

constexpr int kAlignment = 1024;
constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 232;
constexpr float kLog2e = 1.44269504F;

// kDim: head_dim, padded with zeros to 64, 128 or 256.
template <typename T, int kDimensions, int kKeysOfTile>
struct Shape {
    using Element = T;
    static constexpr int kDim = kDimensions;
    static constexpr int kKeys = kKeysOfTile;
    static constexpr int kWarpgroups = 2;  // consumers
    static constexpr int kQueries = kWarpgroups * 64;
    static constexpr int kThreads = (kWarpgroups + 1) * 128;
    static constexpr int kSlabs = kDim / 64;
    static constexpr int kQuerySlabBytes = kQueries * 128;  // 64 elements of each token
    static constexpr int kSlabBytes = kKeys * 128;
    static constexpr int kQueryBytes = kSlabs * kQuerySlabBytes;
    static constexpr int kTileBytes = kSlabs * kSlabBytes;
    static constexpr int kStages = kDim == 128 ? 2 : 4;  // of keys, and of values
    static constexpr int kSharedBytes = kAlignment + kQueryBytes + 2 * kStages * kTileBytes + 256;
    static_assert(kSharedBytes <= 227 * 1024);
    // The second product's columns, at most 128 at a time.
    static constexpr int kParts = kDim > 128 ? 2 : 1;
};

struct Work {
    AttentionArgs args;
    int row_tiles;  // of the longest sequence
    int columns;    // heads of all sequences
    int section;    // columns whose keys and values stay in L2 together
    int dim;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

// A tile's place, and the keys that it reads.
template <class Of>
struct Tile {
    int b, head, row;  // row: first query
    int first, last;   // tiles of keys: [first, last)
    AttentionSequence of;

    // Section by section; in each the last rows of all heads first: under a causal mask they see
    // most. Heads that share keys follow each other.
    __device__ Tile(const Work& work, int index)
        : Tile(work, index / (work.section * work.row_tiles) * work.section,
               index % (work.section * work.row_tiles)) {}

   private:
    __device__ Tile(const Work& work, int column, int inside)
        : Tile(work, column + inside % min(work.section, work.columns - column),
               work.row_tiles - 1 - inside / min(work.section, work.columns - column), 0) {}
    __device__ Tile(const Work& work, int column, int row_tile, int)
        : b(column / static_cast<int>(work.args.heads)),
          head(column % static_cast<int>(work.args.heads)),
          row(row_tile * Of::kQueries),
          of(work.args, b) {
        const int stop = min(row + Of::kQueries, of.queries) - 1;
        first = last = 0;
        if (row >= of.queries) return;
        const int high = of.high(work.args, stop);
        first = of.low(work.args, row) / Of::kKeys;
        last = max(first, (high + Of::kKeys - 1) / Of::kKeys);
    }
};

// Every block's tiles: there and back again over the blocks, so that none has the longer one each
// time.
template <class Of, class Visit>
__device__ void for_tiles(const Work& work, Visit&& visit) {
    const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int tiles = work.row_tiles * work.columns;
    bool back = false;
    for (int start = 0; start < tiles; start += blocks, back = !back) {
        const int index = start + (back ? blocks - 1 - block : block);
        if (index < tiles) visit(Tile<Of>(work, index));
    }
}

// Shared memory: queries, stages of keys, stages of values, barriers.
template <class Of>
struct Places {
    std::uint32_t q;
    __device__ std::uint32_t k(int stage) const {
        return q + Of::kQueryBytes + stage * Of::kTileBytes;
    }
    __device__ std::uint32_t v(int stage) const { return k(Of::kStages + stage); }
    __device__ std::uint32_t q_full() const { return v(Of::kStages); }
    __device__ std::uint32_t q_empty() const { return q_full() + 8; }
    __device__ std::uint32_t k_full(int stage) const { return q_full() + 16 + stage * 16; }
    __device__ std::uint32_t k_empty(int stage) const { return k_full(stage) + 8; }
    __device__ std::uint32_t v_full(int stage) const { return k_full(Of::kStages + stage); }
    __device__ std::uint32_t v_empty(int stage) const { return k_empty(Of::kStages + stage); }
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

template <class Of>
__device__ void produce(const Work& work, const CUtensorMap& q_map, const CUtensorMap& k_map,
                        const CUtensorMap& v_map, const Places<Of>& places) {
    const AttentionArgs& args = work.args;
    const int group = static_cast<int>(args.heads / args.kv_heads);
    Cursor<Of::kStages> k_at, v_at;
    std::uint32_t q_phase = 0;
    const auto load = [](std::uint32_t to, int slab_bytes, const CUtensorMap& map, int head,
                         int token, int b, std::uint32_t full) {
        sm90::barrier_arrive_expecting(full, Of::kSlabs * slab_bytes);
#pragma unroll
        for (int s = 0; s < Of::kSlabs; ++s) {
            sm90::load_box(to + s * slab_bytes, &map, s * 64, head, token, b, full);
        }
    };
    for_tiles<Of>(work, [&](const Tile<Of>& tile) {
        if (tile.first == tile.last) return;
        const int q_b = args.query_starts != nullptr ? 0 : tile.b;
        const int k_b = args.key_starts != nullptr ? 0 : tile.b;
        const int kv_head = tile.head / group;
        const auto load_k = [&](int j) {
            sm90::barrier_wait(places.k_empty(k_at.stage), k_at.phase ^ 1);
            load(places.k(k_at.stage), Of::kSlabBytes, k_map, kv_head,
                 tile.of.first_key + j * Of::kKeys, k_b, places.k_full(k_at.stage));
            k_at.advance();
        };
        const auto load_v = [&](int j) {
            sm90::barrier_wait(places.v_empty(v_at.stage), v_at.phase ^ 1);
            load(places.v(v_at.stage), Of::kSlabBytes, v_map, kv_head,
                 tile.of.first_key + j * Of::kKeys, k_b, places.v_full(v_at.stage));
            v_at.advance();
        };
        sm90::barrier_wait(places.q_empty(), q_phase ^ 1);
        load(places.q, Of::kQuerySlabBytes, q_map, tile.head, tile.of.first_query + tile.row, q_b,
             places.q_full());
        q_phase ^= 1;
        // In the order of use: the scores of the next tile come before the values of this one.
        load_k(tile.last - 1);
        for (int j = tile.last - 2; j >= tile.first; --j) {
            load_k(j);
            load_v(j + 1);
        }
        load_v(tile.first);
    });
}

template <typename T>
constexpr GemmType kGemmType = std::is_same_v<T, __half> ? GemmType::fp16 : GemmType::bf16;

__device__ inline float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// One warpgroup's 64 rows of a tile.
template <class Of>
struct Consumer {
    using T = typename Of::Element;
    static constexpr int kKeys = Of::kKeys;
    static constexpr int kPartColumns = Of::kDim / Of::kParts;
    static constexpr int kScores = kKeys / 2;
    const Work& work;
    Places<Of> places;
    int warpgroup;
    Cursor<Of::kStages> k_at, v_at;
    std::uint32_t q_phase = 0;
    float scale_log2;
    float out[Of::kParts][kPartColumns / 2];
    float score[kScores];
    std::uint32_t weights[kKeys / 16][4];
    float maximum[2], sum[2];  // of rows lane/4 and + 8; sums of this lane's columns

    __device__ void start_scores() {
        const std::uint64_t q = sm90::tile_descriptor(places.q + warpgroup * 64 * 128);
        const std::uint64_t k = sm90::tile_descriptor(places.k(k_at.stage));
        sm90::wgmma_fence();
#pragma unroll
        for (int step = 0; step < Of::kDim / 16; ++step) {
            const int q_slab = step / 4 * Of::kQuerySlabBytes, slab = step / 4 * Of::kSlabBytes;
            const int inside = step % 4 * 32;
            sm90::Wgmma<kGemmType<T>, kKeys>::multiply(
                score, q + ((q_slab + inside) >> 4), k + ((slab + inside) >> 4), step > 0 ? 1 : 0);
        }
        sm90::wgmma_commit();
    }
    __device__ void start_values() {
        const std::uint32_t tile = places.v(v_at.stage);
        sm90::wgmma_fence();
#pragma unroll
        for (int step = 0; step < kKeys / 16; ++step) {
#pragma unroll
            for (int part = 0; part < Of::kParts; ++part) {
                const std::uint64_t v = sm90::rows_descriptor(
                    tile + part * (kPartColumns / 64) * Of::kSlabBytes, Of::kSlabBytes);
                sm90::WgmmaValues<T, kPartColumns>::multiply(
                    out[part], weights[step], v + static_cast<std::uint64_t>(step) * 128);
            }
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
    __device__ void wait_v(const Tile<Of>& tile, int j) {
        sm90::barrier_wait(places.v_full(v_at.stage), v_at.phase);
        // Past the sequence's end lies anything, and 0 times NaN is NaN. Both warpgroups write the
        // zeros, each before it reads.
        const int there = tile.of.keys - j * kKeys;
        if (there >= kKeys) return;
        const std::uint32_t values = places.v(v_at.stage);
        for (int at = there * 8 + static_cast<int>(threadIdx.x) % 128; at < kKeys * 8; at += 128) {
#pragma unroll
            for (int slab = 0; slab < Of::kSlabs; ++slab) {
                asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(
                                 values + slab * Of::kSlabBytes + at * 16),
                             "r"(0)
                             : "memory");
            }
        }
        sm90::fence_for_async();
        sm90::named_barrier(kMeeting + warpgroup, 128);
    }
    __device__ void release_k() {
        release(places.k_empty(k_at.stage));
        k_at.advance();
    }
    __device__ void release_v() {
        release(places.v_empty(v_at.stage));
        v_at.advance();
    }
    // Turns of the warpgroups at the tensor cores.
    static constexpr int kTurn = 1;  // named barriers: one for each warpgroup
    static constexpr int kMeeting = kTurn + Of::kWarpgroups;
    __device__ void take_turn() const {
        sm90::named_barrier(kTurn + warpgroup, 256);
    }
    __device__ void give_turn() const {
        sm90::named_arrive(kTurn + (warpgroup + 1) % Of::kWarpgroups, 256);
    }

    __device__ void mask(const Tile<Of>& tile, int j) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int row =
            tile.row + warpgroup * 64 + static_cast<int>(threadIdx.x) % 128 / 32 * 16 + lane / 4;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            // Columns of this lane below these are seen, and from those on.
            const int high = tile.of.high(work.args, row + 8 * h) - j * kKeys - lane % 4 * 2;
            const int low = tile.of.low(work.args, row + 8 * h) - j * kKeys - lane % 4 * 2;
#pragma unroll
            for (int i = 0; i < kKeys / 8; ++i) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    if (8 * i + c >= high || 8 * i + c < low) score[i * 4 + h * 2 + c] = -INFINITY;
                }
            }
        }
    }
    // Does the mask's edge run through these keys, for any row of the tile?
    __device__ bool needs_mask(const Tile<Of>& tile, int j) const {
        const int end = (j + 1) * kKeys;
        return end > tile.of.high(work.args, tile.row) ||
               (work.args.window > 0 &&
                j * kKeys < tile.of.low(work.args, tile.row + Of::kQueries - 1));
    }

    // Scores become weights; `keep` is what sums so far are multiplied by.
    __device__ void exponentiate(float (&keep)[2]) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float most = maximum[h];
#pragma unroll
            for (int i = 0; i < kKeys / 8; ++i) {
                most = fmaxf(most, fmaxf(score[i * 4 + h * 2], score[i * 4 + h * 2 + 1]));
            }
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 2));
            const float subtract = most == -INFINITY ? 0.0F : most * scale_log2;
            keep[h] = exp2_fast(maximum[h] * scale_log2 - subtract);
            maximum[h] = most;
            float total[2] = {};
#pragma unroll
            for (int i = 0; i < kKeys / 8; ++i) {
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
        for (int step = 0; step < kKeys / 16; ++step) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                weights[step][i] =
                    pack_pair<T>(score[step * 8 + i * 2], score[step * 8 + i * 2 + 1]);
            }
        }
    }
    __device__ void rescale(const float (&keep)[2]) {
#pragma unroll
        for (auto& part : out) {
#pragma unroll
            for (int i = 0; i < kPartColumns / 2; ++i) part[i] *= keep[i / 2 % 2];
        }
    }

    __device__ void pin_out() {
#pragma unroll
        for (auto& part : out) sm90::pin(part);
    }

    __device__ void run(const Tile<Of>& tile) {
#pragma unroll
        for (auto& part : out) {
#pragma unroll
            for (float& value : part) value = 0;
        }
        maximum[0] = maximum[1] = -INFINITY;
        sum[0] = sum[1] = 0;
        if (tile.first < tile.last) {
            accumulate(tile);
        }
        store(tile);
    }

    __device__ void accumulate(const Tile<Of>& tile) {
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
            wait_v(tile, j + 1);
            start_values();
            give_turn();
            sm90::wgmma_wait<1>();
            sm90::pin(score);
            release_k();
            if (needs_mask(tile, j)) mask(tile, j);
            exponentiate(keep);
            sm90::wgmma_wait<0>();
            pin_out();
            release_v();
            rescale(keep);
            pack();
        }
        release(places.q_empty());
        wait_v(tile, tile.first);
        start_values();
        sm90::wgmma_wait<0>();
        pin_out();
        release_v();
    }

    __device__ void store(const Tile<Of>& tile) {
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
            for (int i = 0; i < Of::kDim / 32; ++i) {
                const auto& part = out[i * 32 / kPartColumns];
                std::uint32_t word[4];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int at = (i * 32 % kPartColumns / 8 + j) * 4 + h * 2;
                    word[j] = pack_pair<T>(part[at] * inverse, part[at + 1] * inverse);
                }
                transpose_quad(word, lane % 4);
                const int column = i * 32 + lane % 4 * 8;
                if (row < tile.of.queries && column < work.dim) {
                    *reinterpret_cast<uint4*>(to + column) =
                        uint4{word[0], word[1], word[2], word[3]};
                }
            }
        }
    }
};
#endif

template <class Of>
__global__ void __launch_bounds__(Of::kThreads, 1)
    attention_prefill_kernel(const __grid_constant__ CUtensorMap q_map,
                             const __grid_constant__ CUtensorMap k_map,
                             const __grid_constant__ CUtensorMap v_map,
                             const __grid_constant__ Work work) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ unsigned char dynamic_shared[];
    const Places<Of> places{(sm90::shared_address(dynamic_shared) + kAlignment - 1) / kAlignment *
                            kAlignment};
    if (threadIdx.x == 0) {
        constexpr int kReleases = Of::kWarpgroups * 4;  // every consumer warp says so
        sm90::barrier_init(places.q_full(), 1);
        sm90::barrier_init(places.q_empty(), kReleases);
        for (int stage = 0; stage < 2 * Of::kStages; ++stage) {
            sm90::barrier_init(places.k_full(stage), 1);
            sm90::barrier_init(places.k_empty(stage), kReleases);
        }
        sm90::barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x / 128 == Of::kWarpgroups) {
        sm90::give_registers<kProducerRegisters>();
        if (threadIdx.x == Of::kWarpgroups * 128) produce<Of>(work, q_map, k_map, v_map, places);
        __syncwarp();
    } else {
        sm90::take_registers<kConsumerRegisters>();
        Consumer<Of> consumer{.work = work,
                              .places = places,
                              .warpgroup = static_cast<int>(threadIdx.x) / 128,
                              .scale_log2 = work.args.scale * kLog2e};
        if (consumer.warpgroup == Of::kWarpgroups - 1) consumer.give_turn();  // to the first
        for_tiles<Of>(work, [&](const Tile<Of>& tile) { consumer.run(tile); });
        // Every turn that was given is taken.
        if (consumer.warpgroup == 0) consumer.take_turn();
    }
#else
    __trap();  // AttentionPlan offers this kernel to sm_90a builds only
#endif
}

// [sequence][token][head][element], in boxes of 64 elements of `rows` tokens of one head.
cudaError_t encode(TensorMap* map, const void* data, const AttentionStrides& at, std::int64_t dim,
                   std::int64_t heads, std::int64_t tokens, std::int64_t batch, int rows) {
    const auto bytes = [](std::int64_t elements) {
        return static_cast<std::uint64_t>(elements) * 2;
    };
    const std::uint64_t sizes[] = {
        static_cast<std::uint64_t>(dim), static_cast<std::uint64_t>(heads),
        static_cast<std::uint64_t>(tokens), static_cast<std::uint64_t>(batch)};
    // Of one sequence the step to the next is never taken; the encoder wants one all the same.
    const std::uint64_t strides[] = {bytes(at.head), bytes(at.token),
                                     bytes(batch > 1 ? at.batch : at.token)};
    const std::uint32_t box[] = {64, 1, static_cast<std::uint32_t>(rows), 1};
    return encode_tensor_map(map, {2, data, sizes, strides, box, false});
}

template <class Of>
cudaError_t prepare(AttentionLaunch& launch) {
    const AttentionArgs& a = launch.args;
    const bool packed_q = a.query_starts != nullptr, packed_k = a.key_starts != nullptr;
    cudaError_t error =
        encode(&launch.q_map, a.q, a.q_at, a.head_dim, a.heads,
               packed_q ? a.query_tokens : a.queries, packed_q ? 1 : a.batch, Of::kQueries);
    for (const bool keys : {true, false}) {
        if (error != cudaSuccess) return error;
        error = encode(keys ? &launch.k_map : &launch.v_map, keys ? a.k : a.v,
                       keys ? a.k_at : a.v_at, a.head_dim, a.kv_heads,
                       packed_k ? a.key_tokens : a.keys, packed_k ? 1 : a.batch, Of::kKeys);
    }
    if (error != cudaSuccess) return error;
    const std::int64_t tiles = (a.queries + Of::kQueries - 1) / Of::kQueries * a.heads * a.batch;
    launch.blocks = static_cast<int>(std::min<std::int64_t>(launch.multiprocessors, tiles));
    return cudaFuncSetAttribute(attention_prefill_kernel<Of>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize, Of::kSharedBytes);
}

CUtensorMap encoded(const TensorMap& map) {
    CUtensorMap copy;
    static_assert(sizeof(copy) == sizeof(map));
    std::memcpy(&copy, &map, sizeof(copy));
    return copy;
}

// Query heads whose keys and values, read by every tile of theirs, fill about half of L2.
std::int64_t section_of(const AttentionArgs& args) {
    constexpr std::int64_t kL2Bytes = std::int64_t{24} << 20;
    const std::int64_t head_bytes = 4 * args.keys * args.head_dim;
    const std::int64_t group = args.heads / args.kv_heads;
    return std::clamp<std::int64_t>(kL2Bytes / head_bytes, 1, args.kv_heads * args.batch) * group;
}

template <class Of>
cudaError_t launch(const AttentionLaunch& with, cudaStream_t stream) {
    const AttentionArgs& args = with.args;
    const Work work{args, static_cast<int>((args.queries + Of::kQueries - 1) / Of::kQueries),
                    static_cast<int>(args.heads * args.batch), static_cast<int>(section_of(args)),
                    static_cast<int>(args.head_dim)};
    attention_prefill_kernel<Of>
        <<<static_cast<unsigned>(with.blocks), Of::kThreads, Of::kSharedBytes, stream>>>(
            encoded(with.q_map), encoded(with.k_map), encoded(with.v_map), work);
    return cudaGetLastError();
}

template <class Of>
const AttentionKernel* kernel(const char* name) {
    static const AttentionKernel of_shape{name, prepare<Of>, nullptr, launch<Of>};
    return &of_shape;
}

// Larger tiles of keys have fewer steps; a causal mask wastes more of them.
template <typename T>
const AttentionKernel* select(const AttentionArgs& args) {
    if (args.head_dim > 128) return kernel<Shape<T, 256, 32>>("sm90_wgmma_256_128x32");
    if (args.head_dim > 64) return kernel<Shape<T, 128, 128>>("sm90_wgmma_128_128x128");
    if (args.causal) return kernel<Shape<T, 64, 128>>("sm90_wgmma_64_128x128");
    return kernel<Shape<T, 64, 192>>("sm90_wgmma_64_128x192");
}

}  // namespace

const AttentionKernel* sm90_prefill_kernel(const AttentionArgs& args) {
    const auto aligned = [](const void* p, const AttentionStrides& at) {
        return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && at.token % 8 == 0 &&
               at.head % 8 == 0 && at.batch % 8 == 0;
    };
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const bool fits = args.type == args.query_type && args.head_dim == args.value_dim &&
                      args.pages == nullptr && args.head_dim % 8 == 0 && args.head_dim <= 256 &&
                      args.keys > 0 && aligned(args.q, args.q_at) && aligned(args.k, args.k_at) &&
                      aligned(args.v, args.v_at) && aligned(args.out, args.out_at) &&
                      (args.queries / 64 + 1) * args.heads * args.batch < most;
    if (!fits) return nullptr;
    if (args.type == AttentionType::bf16) return select<__nv_bfloat16>(args);
    if (args.type == AttentionType::fp16) return select<__half>(args);
    return nullptr;
}

#else
const AttentionKernel* sm90_prefill_kernel(const AttentionArgs&) {
    return nullptr;
}
#endif

}  // namespace etalon::kernels
