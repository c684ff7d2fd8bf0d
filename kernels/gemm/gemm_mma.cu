// GEMM by mma.sync for any size, leading dimension and alignment, sm_80 and later.
//
// Tile 128 × 128, 64 bytes of K a step, double-buffered shared memory (40 KiB), eight warps of
// 64 × 32. The next step's elements are fetched into registers while this one is multiplied: 16
// bytes at a time where rows are 16-byte aligned, else one by one.
//
// A fragment register is the same four bytes of a row for every type (PTX ISA, "Matrix fragments
// for mma"): words t and t+4 of 32 bytes of K, so one loop serves all. fp8 words are widened to
// two fp16 pairs each; A and B alike, so the order within K does not matter.
//
// Bounded by shared memory reads and, unaligned, by the element loads. Predicted on an H200 at
// 8192³, aligned: bf16 250 TFLOP/s. Figure reached: see results/recorded.
#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_tile.cuh"

namespace etalon::kernels {
namespace {

constexpr int kTile = 128;
constexpr int kThreads = 256;
constexpr int kRowBytes = 64;
constexpr int kVectorBytes = 16;
constexpr int kVectorsOfRow = kRowBytes / kVectorBytes;
constexpr int kVectorsOfThread = kTile * kVectorsOfRow / kThreads;
constexpr int kRowWords = 20;  // 16 and 4 of padding: a warp's fragment reads hit 32 banks
constexpr int kStepWords = 8;  // 32 bytes of K
constexpr int kWarpM = 64;
constexpr int kWarpN = 32;
constexpr int kBlocksM = kWarpM / 16;
constexpr int kBlocksN = kWarpN / 8;

// One of A and B: rows × k elements.
template <typename Input>
struct Matrix {
    const Input* data;
    std::int64_t ld;
    int rows;
    int k;
    bool vectors;  // base and rows are 16-byte aligned

    // 16 bytes of a row; zeros outside the matrix.
    __device__ uint4 load(int row, int column) const {
        constexpr int kElements = kVectorBytes / static_cast<int>(sizeof(Input));
        uint4 bits{0, 0, 0, 0};
        if (row >= rows) return bits;
        const Input* const from = data + row * ld + column;
        if (vectors && column + kElements <= k) {
            return *reinterpret_cast<const uint4*>(from);
        }
        Input element[kElements];
        memset(static_cast<void*>(element), 0, sizeof(element));
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            if (column + i < k) element[i] = from[i];
        }
        memcpy(&bits, element, sizeof(bits));
        return bits;
    }
};

__device__ inline std::uint32_t round_to_tf32(std::uint32_t bits) {
    std::uint32_t rounded = 0;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
}

// d += a · bᵀ over 32 bytes of K.
template <GemmType kType>
struct Mma;

template <>
struct Mma<GemmType::bf16> {
    __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

template <>
struct Mma<GemmType::fp16> {
    __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

template <>
struct Mma<GemmType::tf32> {
    __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(round_to_tf32(a[0])), "r"(round_to_tf32(a[1])), "r"(round_to_tf32(a[2])),
              "r"(round_to_tf32(a[3])), "r"(round_to_tf32(b[0])), "r"(round_to_tf32(b[1])));
    }
};

template <>
struct Mma<GemmType::int8> {
    __device__ static void multiply(std::int32_t (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
};

template <>
struct Mma<GemmType::fp8> {
    // Two e4m3 of the word's lower or upper half as an fp16 pair; every e4m3 value is an fp16 one.
    __device__ static std::uint32_t widen(std::uint32_t word, int half) {
        const auto pair = static_cast<__nv_fp8x2_storage_t>(word >> (16 * half));
        const __half2_raw wide = __nv_cvt_fp8x2_to_halfraw2(pair, __NV_E4M3);
        return static_cast<std::uint32_t>(wide.x) | static_cast<std::uint32_t>(wide.y) << 16;
    }
    __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::uint32_t a_wide[4] = {widen(a[0], half), widen(a[1], half),
                                             widen(a[2], half), widen(a[3], half)};
            const std::uint32_t b_wide[2] = {widen(b[0], half), widen(b[1], half)};
            Mma<GemmType::fp16>::multiply(d, a_wide, b_wide);
        }
    }
};

using SharedTile = std::uint32_t[kTile][kRowWords];

// A thread's share of a tile, on its way to shared memory.
struct Fetched {
    uint4 vector[kVectorsOfThread];

    template <typename Input>
    __device__ void load(const Matrix<Input>& from, int first_row, int first_column) {
        constexpr int kElements = kVectorBytes / static_cast<int>(sizeof(Input));
#pragma unroll
        for (int i = 0; i < kVectorsOfThread; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kThreads;
            vector[i] = from.load(first_row + at / kVectorsOfRow,
                                  first_column + at % kVectorsOfRow * kElements);
        }
    }
    __device__ void store(SharedTile& to) const {
#pragma unroll
        for (int i = 0; i < kVectorsOfThread; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * kThreads;
            *reinterpret_cast<uint4*>(&to[at / kVectorsOfRow][at % kVectorsOfRow * 4]) = vector[i];
        }
    }
};

template <GemmType kType, typename Accumulator>
__device__ void multiply_tiles(Accumulator (&d)[kBlocksM][kBlocksN][4], const SharedTile& a_tile,
                               const SharedTile& b_tile, int first_m, int first_n) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / 4;
    const int thread = lane % 4;
#pragma unroll
    for (int word = 0; word < kRowBytes / 4; word += kStepWords) {
        std::uint32_t b[kBlocksN][2];
#pragma unroll
        for (int j = 0; j < kBlocksN; ++j) {
            const std::uint32_t* const row = b_tile[first_n + 8 * j + group] + word + thread;
            b[j][0] = row[0];
            b[j][1] = row[4];
        }
#pragma unroll
        for (int i = 0; i < kBlocksM; ++i) {
            const std::uint32_t* const upper = a_tile[first_m + 16 * i + group] + word + thread;
            const std::uint32_t* const lower = upper + 8 * kRowWords;
            const std::uint32_t a[4] = {upper[0], lower[0], upper[4], lower[4]};
#pragma unroll
            for (int j = 0; j < kBlocksN; ++j) Mma<kType>::multiply(d[i][j], a, b[j]);
        }
    }
}

template <GemmType kType>
__global__ void __launch_bounds__(kThreads, 1)
    gemm_mma_kernel(Matrix<typename GemmTypes<kType>::Input> a,
                    Matrix<typename GemmTypes<kType>::Input> b, TileOrder order,
                    TileOutput<typename GemmTypes<kType>::Output> out) {
    using Accumulator = typename GemmTypes<kType>::Accumulator;
    constexpr int kStep = kRowBytes / static_cast<int>(sizeof(typename GemmTypes<kType>::Input));
    __shared__ __align__(kVectorBytes) SharedTile a_tile[2];
    __shared__ __align__(kVectorBytes) SharedTile b_tile[2];

    const auto tile = order.at(blockIdx.x);
    const int row_a = static_cast<int>(tile.m) * kTile;
    const int row_b = static_cast<int>(tile.n) * kTile;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int first_m = warp % 2 * kWarpM;
    const int first_n = warp / 2 * kWarpN;
    Accumulator d[kBlocksM][kBlocksN][4] = {};
    Fetched a_next;
    Fetched b_next;
    a_next.load(a, row_a, 0);
    b_next.load(b, row_b, 0);
    int buffer = 0;
    for (int k = 0; k < a.k; k += kStep) {
        a_next.store(a_tile[buffer]);
        b_next.store(b_tile[buffer]);
        // One barrier a step: whoever passes it has finished with the other buffer.
        __syncthreads();
        if (k + kStep < a.k) {
            a_next.load(a, row_a, k + kStep);
            b_next.load(b, row_b, k + kStep);
        }
        multiply_tiles<kType>(d, a_tile[buffer], b_tile[buffer], first_m, first_n);
        buffer ^= 1;
    }
#pragma unroll
    for (int i = 0; i < kBlocksM; ++i) {
        Accumulator row[kBlocksN * 4];
#pragma unroll
        for (int j = 0; j < kBlocksN * 4; ++j) row[j] = d[i][j / 4][j % 4];
        store_rows(row, out, row_a + first_m + 16 * i, row_b + first_n);
    }
}

template <typename Input>
Matrix<Input> matrix(const void* data, std::int64_t ld, std::int64_t rows, std::int64_t k) {
    const bool vectors = reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0 &&
                         ld * static_cast<std::int64_t>(sizeof(Input)) % kVectorBytes == 0;
    return {static_cast<const Input*>(data), ld, static_cast<int>(rows), static_cast<int>(k),
            vectors};
}

template <GemmType kType>
cudaError_t launch(const GemmLaunch& gemm, cudaStream_t stream) {
    using Input = typename GemmTypes<kType>::Input;
    const GemmArgs& args = gemm.args;
    const TileOrder order = tile_order(args, kTile, kTile);
    gemm_mma_kernel<kType><<<order.count(), kThreads, 0, stream>>>(
        matrix<Input>(args.a, args.lda, args.m, args.k),
        matrix<Input>(args.b, args.ldb, args.n, args.k), order,
        tile_output<typename GemmTypes<kType>::Output>(args));
    return cudaGetLastError();
}

template <GemmType kType>
const GemmKernel* kernel(const char* name) {
    static const GemmKernel of_type{name, kTile, kTile, false, false, nullptr, launch<kType>};
    return &of_type;
}

}  // namespace

const GemmKernel* mma_kernel(GemmType type) {
    switch (type) {
        case GemmType::bf16:
            return kernel<GemmType::bf16>("mma_sync_bf16_128x128x32");
        case GemmType::fp16:
            return kernel<GemmType::fp16>("mma_sync_fp16_128x128x32");
        case GemmType::tf32:
            return kernel<GemmType::tf32>("mma_sync_tf32_128x128x16");
        case GemmType::fp8:
            return kernel<GemmType::fp8>("mma_sync_fp8_as_fp16_128x128x64");
        case GemmType::int8:
            return kernel<GemmType::int8>("mma_sync_int8_128x128x64");
        case GemmType::fp32:
            return nullptr;
    }
    return nullptr;
}

}  // namespace etalon::kernels
