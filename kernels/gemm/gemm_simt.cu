// fp32 GEMM by fused multiply-add, any size, leading dimension and alignment.
//
// Tile 128 × 128 × 8, 256 threads with 8 × 8 accumulators each (four 4 × 4 blocks, so that shared
// memory is read 16 bytes at a time), double-buffered, both tiles transposed on the way in.
//
// Bounded by the FMA units. Predicted on an H200 at 8192³: 45 TFLOP/s of 67 at 1980 MHz. Figure
// reached: see results/recorded.
#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"

namespace etalon::kernels {
namespace {

constexpr int kTile = 128;
constexpr int kStep = 8;
constexpr int kThreads = 256;
constexpr int kRow = kTile + 4;  // padding: the transposing stores hit 32 banks
constexpr int kHalf = kTile / 2;

struct Matrix {
    const float* data;
    std::int64_t ld;
    int rows;
    int k;
    bool vectors;  // base and rows are 16-byte aligned

    __device__ float4 load(int row, int column) const {
        float4 value{0.0F, 0.0F, 0.0F, 0.0F};
        if (row >= rows) return value;
        const float* const from = data + row * ld + column;
        if (vectors && column + 4 <= k) return *reinterpret_cast<const float4*>(from);
        if (column < k) value.x = from[0];
        if (column + 1 < k) value.y = from[1];
        if (column + 2 < k) value.z = from[2];
        if (column + 3 < k) value.w = from[3];
        return value;
    }
};

using SharedTile = float[kStep][kRow];

__device__ inline void store_transposed(SharedTile& to, int row, int column, float4 value) {
    to[column][row] = value.x;
    to[column + 1][row] = value.y;
    to[column + 2][row] = value.z;
    to[column + 3][row] = value.w;
}

// Eight values of a row of the tile: four at `at`, four half a tile on.
__device__ inline void load_fragment(float (&fragment)[8], const float* row, int at) {
    const float4 low = *reinterpret_cast<const float4*>(row + at);
    const float4 high = *reinterpret_cast<const float4*>(row + at + kHalf);
    memcpy(fragment, &low, sizeof(low));
    memcpy(fragment + 4, &high, sizeof(high));
}

__global__ void __launch_bounds__(kThreads, 2)
    gemm_simt_kernel(Matrix a, Matrix b, TileOrder order, TileOutput<float> out) {
    __shared__ __align__(16) SharedTile a_tile[2];
    __shared__ __align__(16) SharedTile b_tile[2];
    const auto tile = order.at(blockIdx.x);
    const int row_a = static_cast<int>(tile.m) * kTile;
    const int row_b = static_cast<int>(tile.n) * kTile;
    const int load_row = static_cast<int>(threadIdx.x) / 2;
    const int load_column = static_cast<int>(threadIdx.x) % 2 * 4;
    const int at_m = static_cast<int>(threadIdx.x) / 16 * 4;
    const int at_n = static_cast<int>(threadIdx.x) % 16 * 4;

    float d[8][8] = {};
    float4 a_next = a.load(row_a + load_row, load_column);
    float4 b_next = b.load(row_b + load_row, load_column);
    int buffer = 0;
    for (int k = 0; k < a.k; k += kStep) {
        store_transposed(a_tile[buffer], load_row, load_column, a_next);
        store_transposed(b_tile[buffer], load_row, load_column, b_next);
        // One barrier a step: whoever passes it has finished with the other buffer.
        __syncthreads();
        if (k + kStep < a.k) {
            a_next = a.load(row_a + load_row, k + kStep + load_column);
            b_next = b.load(row_b + load_row, k + kStep + load_column);
        }
#pragma unroll
        for (int step = 0; step < kStep; ++step) {
            float a_value[8];
            float b_value[8];
            load_fragment(a_value, a_tile[buffer][step], at_m);
            load_fragment(b_value, b_tile[buffer][step], at_n);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
#pragma unroll
                for (int j = 0; j < 8; ++j) d[i][j] = fmaf(a_value[i], b_value[j], d[i][j]);
            }
        }
        buffer ^= 1;
    }

#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = row_a + at_m + i % 4 + i / 4 * kHalf;
        if (row >= out.m) continue;
        float* const c_row = out.c + row * out.ldc;
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
            store_pair(c_row, row_b + at_n + j % 4 + j / 4 * kHalf, d[i][j], d[i][j + 1], out);
        }
    }
}

Matrix matrix(const void* data, std::int64_t ld, std::int64_t rows, std::int64_t k) {
    const bool vectors = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0;
    return {static_cast<const float*>(data), ld, static_cast<int>(rows), static_cast<int>(k),
            vectors};
}

cudaError_t launch(const GemmLaunch& gemm, cudaStream_t stream) {
    const GemmArgs& args = gemm.args;
    const TileOrder order = tile_order(args, kTile, kTile);
    gemm_simt_kernel<<<order.count(), kThreads, 0, stream>>>(
        matrix(args.a, args.lda, args.m, args.k), matrix(args.b, args.ldb, args.n, args.k), order,
        tile_output<float>(args));
    return cudaGetLastError();
}

}  // namespace

const GemmKernel* simt_kernel() {
    static const GemmKernel kernel{
        "simt_fp32_128x128x8", kTile, kTile, false, false, nullptr, launch};
    return &kernel;
}

}  // namespace etalon::kernels
