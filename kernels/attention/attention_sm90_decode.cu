// Attention of one or a few new tokens to a long cache, on Hopper.
//
// The queries of all heads that share a KV head, up to 16 rows, are the A operand of mma.sync, so
// the cache is read once. All tiles of 64 keys, of every sequence and KV head in a row, are dealt
// out evenly: each block takes an unbroken run of them, whatever the lengths, and the last block to
// finish a head that several share merges their parts by log-sum-exp. One warp keeps a ring of 192
// KiB full by TMA, in boxes of 64 or, of pages, 16 keys; two groups of four warps take tiles in
// turn, 16 keys a warp.
//
// Bounded by memory. Predicted on an H200: 92 % of the read ceiling (4552 GB/s) at 64 × 4096 tokens
// of 8 KV heads, and 12 µs at 1 × 8192. Reached, before the loads of a tile's keys were moved ahead
// of its products: 4300 GB/s (94 %) and 22 µs, where the waits of a warp in each tile count.
#include <cuda.h>

#include "kernels/attention/attention_place.h"
#include "kernels/attention/attention_plan.h"
#include "kernels/common/sm90_ptx.cuh"
#include "kernels/gemm/gemm_tile.cuh"

namespace etalon::kernels {
#ifdef ETALON_SM90A
namespace {

constexpr int kRows = 16;  // of queries: heads of a group × new tokens
constexpr int kTileKeys = 64;
constexpr int kGroups = 1;  // that take tiles in turn; two have too few registers each
constexpr int kWarpsOfGroup = kTileKeys / 16;
constexpr int kWarps = kGroups * kWarpsOfGroup;  // that compute; one more loads
constexpr int kThreads = (kWarps + 1) * 32;
constexpr int kSlabBytes = kTileKeys * 128;  // 64 elements of every key of a tile
constexpr int kRingBytes = 192 * 1024;
constexpr int kAlignment = 1024;

template <int kDim>
struct Shape {
    static constexpr int kSlabs = kDim / 64;
    static constexpr int kStageBytes = 2 * kSlabs * kSlabBytes;  // keys, then values
    static constexpr int kStages = kRingBytes / kStageBytes;
    static constexpr int kExchangeBytes = kWarps * kRows * (kDim + 2) * 4;
    static constexpr int kSharedBytes =
        kAlignment + kRingBytes + kExchangeBytes + kStages * 16 + 16;
};

// A block's part of a head: rows × dim sums, unnormalised, then a maximum and a sum for each row.
template <int kDim>
constexpr int kPartFloats = kRows*(kDim + 2);

struct Work {
    AttentionArgs args;
    int box_rows;  // keys that one box holds, all slabs of them behind each other
    unsigned* counters;
    float* parts;  // two for each block: of the head it begins with, and of the one it ends with
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

__device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}
__device__ inline void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

__device__ inline float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

template <typename T>
__device__ inline void multiply(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
    if constexpr (std::is_same_v<T, __half>) {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

// Tiles dealt out to the blocks. An empty sequence has one, so that somebody writes its zeros.
class Dealing {
   public:
    __device__ explicit Dealing(const AttentionArgs& args)
        : args_(args), kv_heads_(static_cast<int>(args.kv_heads)) {
        if (args.key_lengths == nullptr) {
            total_ = args.batch * of_sequence(static_cast<int>(args.keys));
        } else {
            for (int b = lane(); b < args.batch; b += 32)
                total_ += of_sequence(args.key_lengths[b]);
            for (int m = 16; m > 0; m /= 2) total_ += __shfl_xor_sync(~0U, total_, m);
        }
        blocks_ = static_cast<int>(min(static_cast<std::int64_t>(gridDim.x), total_));
    }
    __device__ int blocks() const { return blocks_; }
    __device__ std::int64_t start(int block) const { return total_ * block / blocks_; }
    // The block that has this tile.
    __device__ int block_of(std::int64_t tile) const {
        return static_cast<int>(((tile + 1) * blocks_ - 1) / total_);
    }
    __device__ static int tiles(int keys) { return max(1, (keys + kTileKeys - 1) / kTileKeys); }

    // Part of a head that lies in this block. The whole warp calls.
    struct Piece {
        int b = 0, head = 0, keys = 0;
        int tile = 0, end = 0;    // of the head
        int of_head = 0;          // tiles
        std::int64_t head_start;  // tile of all
    };
    __device__ Piece first(std::int64_t tile) const {
        Piece piece;
        std::int64_t before = 0;
        if (args_.key_lengths == nullptr) {
            const std::int64_t each = of_sequence(static_cast<int>(args_.keys));
            piece.b = static_cast<int>(tile / each);
            before = piece.b * each;
        } else {
            for (int base = 0;; base += 32) {
                const int b = base + lane();
                const std::int64_t own = b < args_.batch ? of_sequence(args_.key_lengths[b]) : 0;
                std::int64_t sum = own;
                for (int step = 1; step < 32; step *= 2) {
                    const std::int64_t other = __shfl_up_sync(~0U, sum, step);
                    if (lane() >= step) sum += other;
                }
                const unsigned behind = __ballot_sync(~0U, before + sum > tile);
                if (behind != 0) {
                    const int at = __ffs(static_cast<int>(behind)) - 1;
                    piece.b = base + at;
                    before += __shfl_sync(~0U, sum - own, at);
                    break;
                }
                before += __shfl_sync(~0U, sum, 31);
            }
        }
        set_keys(piece);
        piece.head = static_cast<int>((tile - before) / piece.of_head);
        piece.head_start = before + std::int64_t{piece.head} * piece.of_head;
        piece.tile = static_cast<int>(tile - piece.head_start);
        return piece;
    }
    __device__ void next(Piece& piece) const {
        piece.head_start += piece.of_head;
        piece.tile = 0;
        if (++piece.head < kv_heads_) return;
        piece.head = 0;
        ++piece.b;
        set_keys(piece);
    }

   private:
    __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
    __device__ std::int64_t of_sequence(int keys) const {
        return std::int64_t{kv_heads_} * tiles(keys);
    }
    __device__ void set_keys(Piece& piece) const {
        if (piece.b >= args_.batch) return;
        piece.keys = args_.key_lengths == nullptr ? static_cast<int>(args_.keys)
                                                  : args_.key_lengths[piece.b];
        piece.of_head = tiles(piece.keys);
    }

    const AttentionArgs& args_;
    int kv_heads_;
    int blocks_ = 0;
    std::int64_t total_ = 0;
};

// Calls visit(piece) for every piece of this block.
template <class Visit>
__device__ void for_pieces(const Dealing& dealing, Visit&& visit) {
    const int block = static_cast<int>(blockIdx.x);
    const std::int64_t stop = dealing.start(block + 1);
    std::int64_t at = dealing.start(block);
    if (at >= stop) return;
    for (Dealing::Piece piece = dealing.first(at); at < stop; dealing.next(piece)) {
        piece.end = static_cast<int>(
            min(static_cast<std::int64_t>(piece.of_head), stop - piece.head_start));
        at = piece.head_start + piece.end;
        visit(piece);
    }
}

struct Ring {
    std::uint32_t base;
    std::uint32_t barriers;
    int stage_bytes;
    int stages;
    int stage = 0;
    std::uint32_t phase = 0;
    __device__ std::uint32_t data() const { return base + stage * stage_bytes; }
    __device__ std::uint32_t full() const { return barriers + stage * 16; }
    __device__ std::uint32_t empty() const { return full() + 8; }
    __device__ void advance() {
        if (++stage == stages) {
            stage = 0;
            phase ^= 1;
        }
    }
};

template <int kDim>
__device__ void produce(const Work& work, const CUtensorMap& k_map, const CUtensorMap& v_map,
                        const Dealing& dealing, Ring ring) {
    const AttentionArgs& args = work.args;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    constexpr int kSlabs = Shape<kDim>::kSlabs;
    for_pieces(dealing, [&](const Dealing::Piece& piece) {
        // First row of this lane's box, of all rows of the cache.
        const auto row_of = [&](int tile) {
            const int key = tile * kTileKeys + lane * work.box_rows;
            if (lane * work.box_rows >= kTileKeys || key >= piece.keys) return 0;
            if (args.pages == nullptr) {
                return static_cast<int>(
                    (std::int64_t{piece.b} * args.kv_heads + piece.head) * args.keys + key);
            }
            const int page = static_cast<int>(args.page);
            const int id = args.pages[piece.b * args.pages_per_sequence + key / page];
            return (id * static_cast<int>(args.kv_heads) + piece.head) * page + key % page;
        };
        int row = row_of(piece.tile);
        for (int tile = piece.tile; tile < piece.end; ++tile) {
            const int left = min(kTileKeys, piece.keys - tile * kTileKeys);
            const int boxes = (left + work.box_rows - 1) / work.box_rows;
            sm90::barrier_wait(ring.empty(), ring.phase ^ 1);
            if (lane == 0) {
                sm90::barrier_arrive_expecting(ring.full(),
                                               boxes * work.box_rows * 128 * 2 * kSlabs);
            }
            __syncwarp();
            if (lane < boxes) {
                const std::uint32_t to = ring.data() + lane * work.box_rows * 128 * kSlabs;
                sm90::load_box(to, &k_map, 0, row, 0, ring.full());
                sm90::load_box(to + kSlabs * kSlabBytes, &v_map, 0, row, 0, ring.full());
            }
            __syncwarp();
            ring.advance();
            if (tile + 1 < piece.end) row = row_of(tile + 1);
        }
    });
}

// What one warp knows of a head: its 16 keys of every tile.
template <typename T, int kDim>
struct Consumer {
    float out[kDim / 8][4];
    float maximum[2];  // of rows lane/4 and lane/4 + 8, of scores before the scale
    float sum[2];      // of this lane's keys
    std::uint32_t query[kDim / 16][4];
    int limit[2];  // keys that the rows see

    __device__ void begin(const AttentionArgs& args, const Dealing::Piece& piece) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const AttentionSequence of(args, piece.b);
        const int group = static_cast<int>(args.heads / args.kv_heads);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int row = lane / 4 + 8 * h;
            const bool there = row < group * of.queries;
            const int i = row / group;
            limit[h] = there ? of.high(args, i) : 0;
            const T* const from = static_cast<const T*>(args.q) +
                                  (there ? query_offset(args, args.q_at, of, piece.b,
                                                        piece.head * group + row % group, i)
                                         : 0);
#pragma unroll
            for (int s = 0; s < kDim / 16; ++s) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    std::uint32_t word = 0;
                    const int column = s * 16 + half * 8 + lane % 4 * 2;
                    if (there && column < args.head_dim) {
                        word = *reinterpret_cast<const std::uint32_t*>(from + column);
                    }
                    query[s][half * 2 + h] = word;
                }
            }
            maximum[h] = -INFINITY;
            sum[h] = 0;
        }
#pragma unroll
        for (auto& tile : out) {
#pragma unroll
            for (float& value : tile) value = 0;
        }
    }

    __device__ void add(std::uint32_t keys, int box_rows, int first_key, int length,
                        float scale_log2) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) / 32 % kWarpsOfGroup;
        const int own = first_key + warp * 16;  // of the sequence
        constexpr int kSlabs = Shape<kDim>::kSlabs;
        const int slab_bytes = box_rows * 128;
        // This warp's 16 keys: in a box of their own, or rows of the one there is.
        keys += box_rows == kTileKeys ? warp * 16 * 128 : warp * kSlabs * slab_bytes;
        float score[2][4] = {};
        {
            const int row = lane / 16 * 8 + lane % 8;
            float other[2][4] = {};    // a second chain of sums each
            constexpr int kAhead = 4;  // loads in flight; more need more registers than there are
#pragma unroll
            for (int first = 0; first < kDim / 16; first += kAhead) {
                std::uint32_t k[kAhead][4];
#pragma unroll
                for (int i = 0; i < kAhead; ++i) {
                    const int chunk = 2 * (first + i) + lane / 8 % 2;
                    load_matrices(k[i], keys + chunk / 8 * slab_bytes + row * 128 +
                                            ((chunk % 8) ^ (row % 8)) * 16);
                }
#pragma unroll
                for (int i = 0; i < kAhead; i += 2) {
                    multiply<T>(score[0], query[first + i], k[i][0], k[i][1]);
                    multiply<T>(score[1], query[first + i], k[i][2], k[i][3]);
                    multiply<T>(other[0], query[first + i + 1], k[i + 1][0], k[i + 1][1]);
                    multiply<T>(other[1], query[first + i + 1], k[i + 1][2], k[i + 1][3]);
                }
            }
#pragma unroll
            for (int i = 0; i < 8; ++i) score[i / 4][i % 4] += other[i / 4][i % 4];
        }
        const bool tail = own + 16 > min(limit[0], limit[1]);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            float most = maximum[h];
#pragma unroll
            for (int j = 0; j < 2; ++j) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    float& value = score[j][h * 2 + c];
                    if (tail && own + 8 * j + lane % 4 * 2 + c >= limit[h]) value = -INFINITY;
                    most = fmaxf(most, value);
                }
            }
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 1));
            most = fmaxf(most, __shfl_xor_sync(~0U, most, 2));
            const float subtract = most == -INFINITY ? 0.0F : most * scale_log2;
            const float keep = exp2_fast(maximum[h] * scale_log2 - subtract);
            maximum[h] = most;
            float total = 0;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    float& value = score[j][h * 2 + c];
                    value = exp2_fast(fmaf(value, scale_log2, -subtract));
                    total += value;
                }
            }
            sum[h] = sum[h] * keep + total;
#pragma unroll
            for (auto& tile : out) {
                tile[h * 2] *= keep;
                tile[h * 2 + 1] *= keep;
            }
        }
        const std::uint32_t weights[4] = {
            pack_pair<T>(score[0][0], score[0][1]), pack_pair<T>(score[0][2], score[0][3]),
            pack_pair<T>(score[1][0], score[1][1]), pack_pair<T>(score[1][2], score[1][3])};
        // Past the sequence's end lies anything, and 0 times NaN is NaN.
        const bool past = own + 16 > length;
        std::uint32_t there[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int key = own + half * 8 + lane % 4 * 2;
            there[half] = (key < length ? 0xFFFFU : 0U) | (key + 1 < length ? 0xFFFF0000U : 0U);
        }
        const std::uint32_t values = keys + kSlabs * kSlabBytes;
        const int row = lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
        for (int s = 0; s < kDim / 16; ++s) {
            const int chunk = 2 * s + lane / 16;
            std::uint32_t v[4];
            load_matrices_transposed(
                v, values + chunk / 8 * slab_bytes + row * 128 + ((chunk % 8) ^ (row % 8)) * 16);
            if (past) {
#pragma unroll
                for (int i = 0; i < 4; ++i) v[i] &= there[i % 2];
            }
            multiply<T>(out[2 * s], weights, v[0], v[1]);
            multiply<T>(out[2 * s + 1], weights, v[2], v[3]);
        }
    }
};

// Weight of a part whose maximum is `of` where that of all is `all`.
__device__ inline float part_weight(float of, float all) {
    return of == -INFINITY ? 0.0F : exp2f(of - all);
}

// Merges the warps' sums, then the blocks', and writes the output. By all consumer threads.
template <typename T, int kDim>
__device__ void finish(const Work& work, const Dealing& dealing, const Dealing::Piece& piece,
                       Consumer<T, kDim>& own, float* exchange, float scale_log2) {
    constexpr int kConsumers = kWarps * 32;
    constexpr int kBarrier = 1;
    const auto meet = [] { sm90::named_barrier(kBarrier, kConsumers); };
    const AttentionArgs& args = work.args;
    const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, warp = tid / 32;
    float* const stats = exchange + kWarps * kRows * kDim;  // [warp][row][maximum, sum]
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        own.sum[h] += __shfl_xor_sync(~0U, own.sum[h], 1);
        own.sum[h] += __shfl_xor_sync(~0U, own.sum[h], 2);
        const int row = lane / 4 + 8 * h;
        if (lane % 4 == 0) {
            stats[(warp * kRows + row) * 2] = own.maximum[h] * scale_log2;
            stats[(warp * kRows + row) * 2 + 1] = own.sum[h];
        }
#pragma unroll
        for (int j = 0; j < kDim / 8; ++j) {
            *reinterpret_cast<float2*>(exchange + (warp * kRows + row) * kDim + j * 8 +
                                       lane % 4 * 2) =
                float2{own.out[j][h * 2], own.out[j][h * 2 + 1]};
        }
    }
    meet();

    const AttentionSequence of(args, piece.b);
    const int group = static_cast<int>(args.heads / args.kv_heads);
    const int rows = group * of.queries;
    const auto write = [&](int row, int col, float4 value, float total) {
        if (col >= args.head_dim) return;
        const float inverse = total == 0 ? 0.0F : 1 / total;  // nothing seen: zeros
        const int i = row / group;
        T* const to =
            static_cast<T*>(args.out) +
            query_offset(args, args.out_at, of, piece.b, piece.head * group + row % group, i) + col;
        *reinterpret_cast<uint2*>(to) = uint2{pack_pair<T>(value.x * inverse, value.y * inverse),
                                              pack_pair<T>(value.z * inverse, value.w * inverse)};
    };
    const bool whole = piece.tile == 0 && piece.end == piece.of_head;
    const int block = static_cast<int>(blockIdx.x);
    const int first = whole ? block : dealing.block_of(piece.head_start);
    const int last = whole ? block : dealing.block_of(piece.head_start + piece.of_head - 1);
    const auto part_of = [&](int other) {
        // A block's first piece is its part 0.
        const int slot = other > first || dealing.start(other) >= piece.head_start ? 0 : 1;
        return work.parts + (std::int64_t{other} * 2 + slot) * kPartFloats<kDim>;
    };
    const auto add = [](float4& to, float4 value, float weight) {
        to.x += value.x * weight;
        to.y += value.y * weight;
        to.z += value.z * weight;
        to.w += value.w * weight;
    };
    for (int at = tid * 4; at < rows * kDim; at += kConsumers * 4) {
        const int row = at / kDim, col = at % kDim;
        float most = -INFINITY, total = 0;
        for (int w = 0; w < kWarps; ++w) most = fmaxf(most, stats[(w * kRows + row) * 2]);
        float4 value{};
        for (int w = 0; w < kWarps; ++w) {
            const float weight = part_weight(stats[(w * kRows + row) * 2], most);
            total += weight * stats[(w * kRows + row) * 2 + 1];
            add(value, *reinterpret_cast<float4*>(exchange + (w * kRows + row) * kDim + col),
                weight);
        }
        if (whole) {
            write(row, col, value, total);
        } else {
            float* const part = part_of(block);
            __stcg(reinterpret_cast<float4*>(part + row * kDim + col), value);
            if (col == 0) {
                __stcg(reinterpret_cast<float2*>(part + kRows * kDim + row * 2),
                       float2{most, total});
            }
        }
    }
    if (whole) {
        meet();  // before the next head's sums
        return;
    }
    __threadfence();
    meet();
    unsigned* const counter = work.counters + piece.b * args.kv_heads + piece.head;
    auto* const arrived = reinterpret_cast<unsigned*>(stats);
    if (tid == 0) *arrived = atomicAdd(counter, 1U);
    meet();
    const bool merges = *arrived == static_cast<unsigned>(last - first);
    meet();
    if (!merges) return;
    __threadfence();
    if (tid == 0) *counter = 0;  // for the next launch
    for (int at = tid * 4; at < rows * kDim; at += kConsumers * 4) {
        const int row = at / kDim, col = at % kDim;
        float most = -INFINITY, total = 0;
        float4 value{};
#pragma unroll 8
        for (int other = first; other <= last; ++other) {
            const float* const part = part_of(other);
            const float2 of_part =
                __ldcg(reinterpret_cast<const float2*>(part + kRows * kDim + row * 2));
            const float4 sums = __ldcg(reinterpret_cast<const float4*>(part + row * kDim + col));
            const float next = fmaxf(most, of_part.x);
            const float keep = part_weight(most, next), weight = part_weight(of_part.x, next);
            most = next;
            total = total * keep + of_part.y * weight;
            value = {value.x * keep, value.y * keep, value.z * keep, value.w * keep};
            add(value, sums, weight);
        }
        write(row, col, value, total);
    }
}
#endif

template <typename T, int kDim>
__global__ void __launch_bounds__(kThreads, 1)
    attention_decode_kernel(const __grid_constant__ CUtensorMap k_map,
                            const __grid_constant__ CUtensorMap v_map,
                            const __grid_constant__ Work work) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    using Of = Shape<kDim>;
    extern __shared__ unsigned char dynamic_shared[];
    const std::uint32_t shared = sm90::shared_address(dynamic_shared);
    const std::uint32_t base = (shared + kAlignment - 1) / kAlignment * kAlignment;
    auto* const exchange = reinterpret_cast<float*>(dynamic_shared + (base - shared) + kRingBytes);
    Ring ring{base, base + kRingBytes + Of::kExchangeBytes, Of::kStageBytes, Of::kStages};
    if (threadIdx.x < Of::kStages) {
        sm90::barrier_init(ring.barriers + threadIdx.x * 16, 1);
        sm90::barrier_init(ring.barriers + threadIdx.x * 16 + 8, kWarpsOfGroup);
        sm90::barrier_init_fence();
    }
    const Dealing dealing(work.args);
    __syncthreads();
    if (static_cast<int>(blockIdx.x) >= dealing.blocks()) return;
    if (threadIdx.x >= kWarps * 32) {
        produce<kDim>(work, k_map, v_map, dealing, ring);
        return;
    }
    constexpr float kLog2e = 1.44269504F;
    const float scale_log2 = work.args.scale * kLog2e;
    const int group = static_cast<int>(threadIdx.x) / 32 / kWarpsOfGroup;
    int turn = 0;
    for_pieces(dealing, [&](const Dealing::Piece& piece) {
        Consumer<T, kDim> consumer;
        consumer.begin(work.args, piece);
        for (int tile = piece.tile; tile < piece.end; ++tile) {
            if (turn == group) {
                sm90::barrier_wait(ring.full(), ring.phase);
                consumer.add(ring.data(), work.box_rows, tile * kTileKeys, piece.keys, scale_log2);
                __syncwarp();
                if (threadIdx.x % 32 == 0) sm90::barrier_arrive(ring.empty());
            }
            turn = (turn + 1) % kGroups;
            ring.advance();
        }
        finish(work, dealing, piece, consumer, exchange, scale_log2);
    });
#else
    __trap();  // AttentionPlan offers this kernel to sm_90a builds only
#endif
}

std::size_t counter_bytes(const AttentionArgs& args) {
    return static_cast<std::size_t>((args.batch * args.kv_heads * 4 + 255) / 256 * 256);
}

// Keys of a box: a whole tile, or 16 where pages are smaller or no multiple of it.
int box_rows(const AttentionArgs& args) {
    return args.pages == nullptr || args.page % kTileKeys == 0 ? kTileKeys : 16;
}

template <typename T, int kDim>
cudaError_t prepare(AttentionLaunch& launch) {
    const AttentionArgs& args = launch.args;
    const std::int64_t run = args.pages != nullptr ? args.page : args.keys;
    const std::int64_t tiles = args.batch * args.kv_heads *
                               std::max<std::int64_t>(1, (args.keys + kTileKeys - 1) / kTileKeys);
    launch.blocks = static_cast<int>(std::min<std::int64_t>(launch.multiprocessors, tiles));
    // How many pages there are is not known here; no page's id may be beyond the table's length.
    const std::int64_t runs =
        args.pages != nullptr ? args.batch * args.pages_per_sequence : args.batch;
    // Three dimensions: 64 elements, rows, and the next 64 elements.
    const auto dim = static_cast<std::uint64_t>(args.head_dim);
    const auto rows =
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, runs * args.kv_heads * run));
    const std::uint64_t sizes[] = {64, rows, kDim / 64};
    const std::uint64_t strides[] = {dim * 2, 128};
    const std::uint32_t box[] = {64, static_cast<std::uint32_t>(box_rows(args)), kDim / 64};
    for (const bool keys : {true, false}) {
        const cudaError_t error =
            encode_tensor_map(keys ? &launch.k_map : &launch.v_map,
                              {2, keys ? args.k : args.v, sizes, strides, box, true});
        if (error != cudaSuccess) return error;
    }
    return cudaFuncSetAttribute(attention_decode_kernel<T, kDim>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                Shape<kDim>::kSharedBytes);
}

template <int kDim>
std::size_t workspace_bytes(const AttentionLaunch& launch) {
    return counter_bytes(launch.args) +
           static_cast<std::size_t>(launch.blocks) * 2 * kPartFloats<kDim> * sizeof(float);
}

CUtensorMap encoded(const TensorMap& map) {
    CUtensorMap copy;
    static_assert(sizeof(copy) == sizeof(map));
    std::memcpy(&copy, &map, sizeof(copy));
    return copy;
}

template <typename T, int kDim>
cudaError_t launch(const AttentionLaunch& with, cudaStream_t stream) {
    auto* const workspace = static_cast<std::byte*>(with.workspace);
    const Work work{with.args, box_rows(with.args), reinterpret_cast<unsigned*>(workspace),
                    reinterpret_cast<float*>(workspace + counter_bytes(with.args))};
    attention_decode_kernel<T, kDim>
        <<<static_cast<unsigned>(with.blocks), kThreads, Shape<kDim>::kSharedBytes, stream>>>(
            encoded(with.k_map), encoded(with.v_map), work);
    return cudaGetLastError();
}

template <typename T, int kDim>
const AttentionKernel* kernel(const char* name) {
    static const AttentionKernel of_dim{name, prepare<T, kDim>, workspace_bytes<kDim>,
                                        launch<T, kDim>};
    return &of_dim;
}

}  // namespace

const AttentionKernel* sm90_decode_kernel(const AttentionArgs& args) {
    const std::int64_t group = args.heads / args.kv_heads;
    const std::int64_t run = args.pages != nullptr ? args.page : args.keys;
    const std::int64_t runs =
        args.pages != nullptr ? args.batch * args.pages_per_sequence : args.batch;
    const auto is_cache = [&](const AttentionStrides& at) {
        return at.token == args.head_dim && at.head == run * args.head_dim &&
               at.batch == args.kv_heads * run * args.head_dim;
    };
    const auto aligned = [](const void* p) {
        return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
    };
    const bool fits =
        args.type == args.query_type && args.head_dim == args.value_dim &&
        group * args.queries <= kRows && args.query_starts == nullptr &&
        args.key_starts == nullptr && args.window == 0 && is_cache(args.k_at) &&
        is_cache(args.v_at) && aligned(args.k) && aligned(args.v) && aligned(args.q) &&
        aligned(args.out) && args.q_at.token % 8 == 0 && args.q_at.head % 8 == 0 &&
        args.q_at.batch % 8 == 0 && args.out_at.token % 8 == 0 && args.out_at.head % 8 == 0 &&
        args.out_at.batch % 8 == 0 && (args.pages == nullptr || args.page % 16 == 0) &&
        runs * args.kv_heads * run < (std::int64_t{1} << 31) - kTileKeys;
    if (!fits) return nullptr;
    const bool wide = args.head_dim == 128;
    if (!wide && args.head_dim != 64) return nullptr;
    switch (args.type) {
        case AttentionType::bf16:
            return wide ? kernel<__nv_bfloat16, 128>("sm90_decode_bf16_128")
                        : kernel<__nv_bfloat16, 64>("sm90_decode_bf16_64");
        case AttentionType::fp16:
            return wide ? kernel<__half, 128>("sm90_decode_fp16_128")
                        : kernel<__half, 64>("sm90_decode_fp16_64");
        default:
            return nullptr;
    }
}

#else
const AttentionKernel* sm90_decode_kernel(const AttentionArgs&) {
    return nullptr;
}
#endif

}  // namespace etalon::kernels
