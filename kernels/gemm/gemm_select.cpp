#include "kernels/gemm/gemm_select.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/gemm/gemm_kernels.h"

namespace etalon::kernels {
namespace {

constexpr std::int64_t kTmaAlignment = 16;
constexpr std::int64_t kTmaMaxStride = std::int64_t{1} << 40;
constexpr std::int64_t kMostDecodeTokens = 64;
constexpr std::array kTileWidths = {256, 224, 192, 160, 128};
constexpr std::array kDecodeTokens = {8, 16, 32, 64};
constexpr std::array kDecodeRows = {128, 64};
constexpr std::array kSplits = {1, 2, 4, 8};
constexpr std::array kStages = {2, 4, 6, 8, 12, 16};

std::int64_t tiles(std::int64_t size, std::int64_t tile) {
    return (size + tile - 1) / tile;
}

bool tma_can_read(const void* data, std::int64_t ld, int element_bytes) {
    const std::int64_t row_bytes = ld * element_bytes;
    return reinterpret_cast<std::uintptr_t>(data) % kTmaAlignment == 0 &&
           row_bytes % kTmaAlignment == 0 && row_bytes < kTmaMaxStride;
}

bool tma_can_read(const GemmArgs& args) {
    const int bytes = input_bytes(args.type);
    return args.k > 0 && tma_can_read(args.a, args.lda, bytes) &&
           tma_can_read(args.b, args.ldb, bytes);
}

// --- many tokens --------------------------------------------------------------------------------

std::int64_t stages_of_k(const GemmArgs& args) {
    return tiles(args.k * input_bytes(args.type), kSm90StageBytes);
}

// A tile of fewer is over before the other warpgroup has stored its own.
constexpr std::int64_t kLeastStagesInTurn = 8;

struct Tile {
    int width;
    bool in_turn;  // a warpgroup's own, stored while the other one multiplies
};

// Time of a tile besides its multiplications, in those of a 128 × 256 tile: fitted to an H200's at
// 8192 × 6144 × 4096 of every width.
double tile_overhead(GemmType type, const Tile& tile) {
    if (type == GemmType::fp8) return tile.width == 128 ? 0.08 : 0.055;
    return tile.in_turn ? 0.035 : 0.05;
}

// Two rows of tiles read columns together: fp8, which reads L2 the fastest, always, others once the
// grid goes round, since the pair has to meet first.
int tile_sharing(const GemmArgs& args, std::int64_t count, int multiprocessors) {
    const bool pays = args.type == GemmType::fp8 || count > multiprocessors;
    return args.m > kSm90TileM && pays ? 2 : 1;
}

// The grid that ends first: whole waves of multiprocessors, each as long as its tile.
GemmChoice select_tile(const GemmArgs& args, int multiprocessors) {
    GemmChoice best;
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](const GemmKernel* kernel, const Tile& tile) {
        if (kernel == nullptr) return;
        const std::int64_t count = tiles(args.m, kSm90TileM) * tiles(args.n, tile.width);
        const bool alone = count <= multiprocessors || stages_of_k(args) < kLeastStagesInTurn;
        if (tile.in_turn && alone) return;  // the second warpgroup would only wait
        const int shared = tile_sharing(args, count, multiprocessors);
        const std::int64_t clusters =
            tiles(args.m, kSm90TileM * shared) * tiles(args.n, tile.width);
        const double waves = static_cast<double>(tiles(clusters, multiprocessors / shared));
        const double cost = waves * (tile.width / 256.0 + tile_overhead(args.type, tile));
        if (cost < least) best = {kernel, {.shared = shared}};
        least = std::min(least, cost);
    };
    for (const int width : kTileWidths) {
        consider(sm90_kernel(args.type, width), {width, false});
        consider(sm90_in_turn_kernel(args.type, width), {width, true});
    }
    return best;
}

// --- few tokens ---------------------------------------------------------------------------------

int decode_tokens(std::int64_t m) {
    return *std::find_if(kDecodeTokens.begin(), kDecodeTokens.end() - 1,
                         [m](int tokens) { return tokens >= m; });
}

// Stages of a block's ring. Too few, and the memory waits; too many, and the blocks crowd each
// other out of its open pages. Found on an H200 over the layers of Llama 3.1.
int decode_stages(const GemmArgs& args, int rows, double blocks_per_sm, std::int64_t k_blocks) {
    const bool two_bytes = input_bytes(args.type) == 2;
    const double at_home = rows == 64 ? 3.5 : 2.0;  // blocks of an SM that run at once
    constexpr std::int64_t kLong = 100;
    if (blocks_per_sm <= 1.0 && rows == 64 && two_bytes && k_blocks >= kLong) return 12;
    if (blocks_per_sm <= 1.3) return 8;
    if (blocks_per_sm <= 2.0 && rows == 64) return 6;
    if (blocks_per_sm <= at_home) return 4;
    return two_bytes ? 12 : 4;
}

// A tile of 64 rows, or of 128 where the tokens would be read from L2 too often and there are tiles
// enough; as few parts of K as give most multiprocessors a block.
GemmChoice select_decode(const GemmArgs& args, int multiprocessors) {
    constexpr double kEnough = 0.6;  // blocks, of the multiprocessors
    constexpr std::int64_t kLeastPart = 4;
    const int tokens = decode_tokens(args.m);
    const double enough = kEnough * multiprocessors;
    const int rows = tokens >= 32 && static_cast<double>(tiles(args.n, 128)) >= enough ? 128 : 64;
    const GemmKernel* const kernel = sm90_decode_kernel(args.type, tokens, rows);
    if (kernel == nullptr) return {};
    GemmSchedule schedule;
    double blocks = 0;
    for (const int split : kSplits) {
        if (split > 1 && stages_of_k(args) / split < kLeastPart) break;
        schedule.split = split;
        blocks = static_cast<double>(tiles(args.n, rows) * split);
        if (blocks >= enough) break;
    }
    schedule.stages =
        decode_stages(args, rows, blocks / multiprocessors, stages_of_k(args) / schedule.split);
    return {kernel, schedule};
}

}  // namespace

GemmChoice select_gemm(const GemmArgs& args, int compute_capability, int multiprocessors) {
    if (args.type == GemmType::fp32) return {simt_kernel(), {}};
    if (compute_capability == 90 && tma_can_read(args)) {
        if (args.m <= kMostDecodeTokens) {
            const GemmChoice decode = select_decode(args, multiprocessors);
            if (decode.kernel != nullptr) return decode;
        }
        const GemmChoice tile = select_tile(args, multiprocessors);
        if (tile.kernel != nullptr) return tile;
    }
    return {mma_kernel(args.type), {}};
}

std::vector<GemmChoice> gemm_choices(const GemmArgs& args, int compute_capability) {
    if (args.type == GemmType::fp32) return {{simt_kernel(), {}}};
    std::vector<GemmChoice> all = {{mma_kernel(args.type), {}}};
    if (compute_capability != 90 || !tma_can_read(args)) return all;
    const bool in_turn = stages_of_k(args) >= kLeastStagesInTurn;
    for (const int tile_n : kTileWidths) {
        for (const GemmKernel* const kernel :
             {sm90_kernel(args.type, tile_n),
              in_turn ? sm90_in_turn_kernel(args.type, tile_n) : nullptr}) {
            if (kernel == nullptr) continue;
            all.push_back({kernel, {.shared = 1}});
            if (args.m > kSm90TileM) all.push_back({kernel, {.shared = 2}});
        }
    }
    if (args.m > kMostDecodeTokens) return all;
    for (const int rows : kDecodeRows) {
        const int tokens = decode_tokens(args.m);
        const GemmKernel* const kernel = sm90_decode_kernel(args.type, tokens, rows);
        if (kernel == nullptr) continue;
        for (const int split : kSplits) {
            if (split > stages_of_k(args)) break;
            for (const int stages : kStages) {
                all.push_back({kernel, {.split = split, .stages = stages}});
            }
        }
    }
    return all;
}

}  // namespace etalon::kernels
