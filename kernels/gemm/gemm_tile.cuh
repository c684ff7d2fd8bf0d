// What all GEMM kernels share: the order of tiles and the stores of a tile of accumulators.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/gemm.h"

namespace etalon::kernels {

// Stored types of one GemmType.
template <GemmType type>
struct GemmTypes;
template <>
struct GemmTypes<GemmType::bf16> {
    using Input = __nv_bfloat16;
    using Accumulator = float;
    using Output = __nv_bfloat16;
};
template <>
struct GemmTypes<GemmType::fp16> {
    using Input = __half;
    using Accumulator = float;
    using Output = __half;
};
template <>
struct GemmTypes<GemmType::tf32> {
    using Input = float;
    using Accumulator = float;
    using Output = float;
};
template <>
struct GemmTypes<GemmType::fp8> {
    using Input = __nv_fp8_e4m3;
    using Accumulator = float;
    using Output = __nv_bfloat16;
};
template <>
struct GemmTypes<GemmType::int8> {
    using Input = std::int8_t;
    using Accumulator = std::int32_t;
    using Output = std::int32_t;
};

// Consecutive tiles go down a column of `group` tiles and then one to the right, so the tiles in
// flight form a block whose rows of A and B stay in L2.
struct TileOrder {
    unsigned tiles_m = 0;
    unsigned tiles_n = 0;
    unsigned group = 8;

    struct Tile {
        unsigned m, n;
    };
    __host__ __device__ unsigned count() const { return tiles_m * tiles_n; }
    __device__ Tile at(unsigned index) const {
        const unsigned group_tiles = group * tiles_n;
        const unsigned first = index / group_tiles * group;
        const unsigned height = tiles_m - first < group ? tiles_m - first : group;
        const unsigned inside = index % group_tiles;
        return {first + inside % height, inside / height};
    }
};

// Where a tile goes. `vectors`: C's base and rows allow the widest store of its type.
template <typename Output>
struct TileOutput {
    Output* c = nullptr;
    std::int64_t ldc = 0;
    int m = 0;
    int n = 0;
    bool vectors = false;

    // 16 bytes for 2-byte elements, 8 bytes (a pair) for 4-byte ones.
    static constexpr int kVector = sizeof(Output) == 2 ? 8 : 2;
};

template <typename Output>
TileOutput<Output> tile_output(const GemmArgs& args) {
    constexpr int kVector = TileOutput<Output>::kVector;
    const bool vectors =
        reinterpret_cast<std::uintptr_t>(args.c) % (kVector * sizeof(Output)) == 0 &&
        args.ldc % kVector == 0;
    return {static_cast<Output*>(args.c), args.ldc, static_cast<int>(args.m),
            static_cast<int>(args.n), vectors};
}

template <typename Output>
__device__ inline std::uint32_t pack_pair(float low, float high) {
    std::uint32_t bits = 0;
    if constexpr (std::is_same_v<Output, __nv_bfloat16>) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    } else {
        const __half2 pair = __floats2half2_rn(low, high);
        memcpy(&bits, &pair, sizeof(bits));
    }
    return bits;
}

// Transposes the 4 × 4 words that the four lanes of a quad hold, one row each.
__device__ inline void transpose_quad(std::uint32_t (&word)[4], int quad_lane) {
    constexpr unsigned kAll = 0xFFFFFFFFU;
    const auto exchange = [&](std::uint32_t& low, std::uint32_t& high, int bit) {
        const bool upper = (quad_lane & bit) != 0;
        const std::uint32_t received = __shfl_xor_sync(kAll, upper ? low : high, bit);
        low = upper ? received : low;
        high = upper ? high : received;
    };
    exchange(word[0], word[1], 1);
    exchange(word[2], word[3], 1);
    exchange(word[0], word[2], 2);
    exchange(word[1], word[3], 2);
}

template <typename Output>
__device__ inline void store_eight(Output* c_row, int col, const std::uint32_t (&word)[4],
                                   const TileOutput<Output>& out) {
    if (out.vectors && col + 8 <= out.n) {
        *reinterpret_cast<uint4*>(c_row + col) = uint4{word[0], word[1], word[2], word[3]};
        return;
    }
    Output element[8];
    memcpy(element, word, sizeof(element));
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        if (col + i < out.n) c_row[col + i] = element[i];
    }
}

template <typename Output>
__device__ inline void store_pair(Output* c_row, int col, Output first, Output second,
                                  const TileOutput<Output>& out) {
    if (out.vectors && col + 2 <= out.n) {
        uint2 bits;
        memcpy(&bits.x, &first, sizeof(bits.x));
        memcpy(&bits.y, &second, sizeof(bits.y));
        *reinterpret_cast<uint2*>(c_row + col) = bits;
        return;
    }
    if (col < out.n) c_row[col] = first;
    if (col + 1 < out.n) c_row[col + 1] = second;
}

// Stores the accumulators of 16 rows by kColumns columns that a warp holds as mma and wgmma leave
// them: d[j·4 + h·2 + c] is row lane/4 + 8·h, column 8·j + 2·(lane%4) + c. The whole warp calls.
template <typename Output, typename Accumulator, int kCount>
__device__ inline void store_rows(const Accumulator (&d)[kCount], const TileOutput<Output>& out,
                                  int first_row, int first_col) {
    constexpr int kColumns = kCount * 2;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int quad_lane = lane % 4;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int row = first_row + lane / 4 + 8 * h;
        Output* const c_row = out.c + row * out.ldc;
        if constexpr (sizeof(Output) == 2) {
            // A quad holds 32 columns of a row in pairs; transposed, each lane has eight in a row.
            static_assert(kColumns % 32 == 0);
#pragma unroll
            for (int group = 0; group < kColumns / 32; ++group) {
                std::uint32_t word[4];
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int at = (group * 4 + j) * 4 + h * 2;
                    word[j] = pack_pair<Output>(d[at], d[at + 1]);
                }
                transpose_quad(word, quad_lane);
                const int col = first_col + group * 32 + quad_lane * 8;
                if (row < out.m) store_eight(c_row, col, word, out);
            }
        } else {
            static_assert(sizeof(Output) == 4 && std::is_same_v<Output, Accumulator>);
#pragma unroll
            for (int j = 0; j < kColumns / 8; ++j) {
                const int col = first_col + 8 * j + 2 * quad_lane;
                const int at = j * 4 + h * 2;
                if (row < out.m) store_pair(c_row, col, d[at], d[at + 1], out);
            }
        }
    }
    __syncwarp();  // what follows may be an instruction of the whole warp
}

inline TileOrder tile_order(const GemmArgs& args, int tile_m, int tile_n, unsigned group = 8) {
    return {static_cast<unsigned>((args.m + tile_m - 1) / tile_m),
            static_cast<unsigned>((args.n + tile_n - 1) / tile_n), group};
}

}  // namespace etalon::kernels
