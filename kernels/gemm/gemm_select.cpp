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

// Time of the grid in units of a 128 × 256 tile's: whole waves of SMs, each as long as its tile is
// wide and a part more that no width saves: the narrower the tile, the more shared memory is read
// per multiplication, and fp8 adds its sums besides.
double tile_cost(const GemmArgs& args, int tile_n, int shared, int multiprocessors) {
    const double fixed = args.type == GemmType::fp8 ? 0.12 : 0.05;
    const std::int64_t clusters = tiles(args.m, kSm90TileM * shared) * tiles(args.n, tile_n);
    const double waves = static_cast<double>(tiles(clusters, multiprocessors / shared));
    return waves * (tile_n / 256.0 + fixed);
}

// Two rows of tiles read B together once the grid goes round: before that the pair's meeting costs
// more than L2 gains.
int tile_sharing(const GemmArgs& args, int tile_n, int multiprocessors) {
    const std::int64_t count = tiles(args.m, kSm90TileM) * tiles(args.n, tile_n);
    return args.m > kSm90TileM && count > multiprocessors ? 2 : 1;
}

GemmChoice select_tile(const GemmArgs& args, int multiprocessors) {
    GemmChoice best;
    double least = std::numeric_limits<double>::infinity();
    for (const int tile_n : kTileWidths) {
        const GemmKernel* const kernel = sm90_kernel(args.type, tile_n);
        if (kernel == nullptr) continue;
        const int shared = tile_sharing(args, tile_n, multiprocessors);
        const double cost = tile_cost(args, tile_n, shared, multiprocessors);
        if (cost < least) best = {kernel, {.shared = shared}};
        least = std::min(least, cost);
    }
    return best;
}

// --- few tokens ---------------------------------------------------------------------------------

int decode_tokens(std::int64_t m) {
    return *std::find_if(kDecodeTokens.begin(), kDecodeTokens.end() - 1,
                         [m](int tokens) { return tokens >= m; });
}

std::int64_t stages_of_k(const GemmArgs& args) {
    return tiles(args.k * input_bytes(args.type), kSm90StageBytes);
}

// A tile of 64 rows, or of 128 where the tokens would be read from L2 too often and there are tiles
// enough; as few parts of K as give most multiprocessors a block; rings that together keep the
// memory busy: less, and it waits, more, and the blocks crowd each other out of its open pages.
GemmChoice select_decode(const GemmArgs& args, int multiprocessors) {
    constexpr double kEnough = 0.6;  // blocks, of the multiprocessors
    constexpr double kBytesPerMultiprocessor = 96 * 1024;
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
    const double share = std::clamp(blocks / multiprocessors, 1.0, 3.0);
    const double stages = kBytesPerMultiprocessor / (share * rows * kSm90StageBytes);
    schedule.stages = *std::find_if(kStages.begin() + 1, kStages.end() - 2,
                                    [stages](int listed) { return listed >= stages; });
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
    for (const int tile_n : kTileWidths) {
        for (const GemmKernel* const kernel :
             {sm90_kernel(args.type, tile_n), sm90_in_turn_kernel(args.type, tile_n)}) {
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
