// What can be told without a GPU: which arguments are taken and which kernel runs.
#include <gtest/gtest.h>

#include <string>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_select.h"

namespace etalon::kernels {
namespace {

alignas(256) unsigned char memory[1024];

GemmArgs args(GemmType type, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {type, memory, memory, memory, m, n, k, k, k, n};
}

TEST(GemmSupport, SaysWhyNot) {
    const GemmArgs good = args(GemmType::bf16, 8, 8, 8);
    EXPECT_EQ(gemm_unsupported(good, 80), nullptr);
    EXPECT_EQ(gemm_unsupported(good, 90), nullptr);
    EXPECT_STREQ(gemm_unsupported(good, 75), "gemm needs compute capability 8.0 or later");

    GemmArgs bad = good;
    bad.lda = 7;
    EXPECT_STREQ(gemm_unsupported(bad, 90), "gemm: a leading dimension is smaller than its row");
    bad = good;
    bad.ldc = 7;
    EXPECT_NE(gemm_unsupported(bad, 90), nullptr);
    bad = good;
    bad.a = nullptr;
    EXPECT_STREQ(gemm_unsupported(bad, 90), "gemm: A or B is null");
    bad.k = 0;  // A is not read
    EXPECT_EQ(gemm_unsupported(bad, 90), nullptr);
    bad = good;
    bad.c = nullptr;
    EXPECT_STREQ(gemm_unsupported(bad, 90), "gemm: C is null");
    EXPECT_NE(gemm_unsupported(args(GemmType::bf16, -1, 8, 8), 90), nullptr);
    EXPECT_NE(gemm_unsupported(args(GemmType::bf16, (std::int64_t{1} << 30) + 1, 8, 8), 90),
              nullptr);
}

TEST(GemmSelection, OtherMachinesRunMmaSync) {
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 4096, 4096, 4096), 80),
                 "mma_sync_bf16_128x128x32");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::fp8, 4096, 4096, 4096), 100),
                 "mma_sync_fp8_as_fp16_128x128x64");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::fp32, 4096, 4096, 4096), 90),
                 "simt_fp32_128x128x8");
}

#ifdef ETALON_SM90A
TEST(GemmSelection, HopperPicksTheTileThatFillsItsWaves) {
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 4096, 4096, 4096), 90),
                 "sm90_wgmma_bf16_128x256x64");
    // 32 wide tiles leave 100 multiprocessors idle, 64 narrow ones 68.
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 1024, 1024, 1024), 90),
                 "sm90_wgmma_bf16_128x128x64");
    // 96 wide tiles are one wave of 132, as 128 of three quarters of the width are.
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 512, 6144, 4096), 90),
                 "sm90_wgmma_bf16_128x192x64");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::tf32, 8192, 8192, 8192), 90),
                 "sm90_wgmma_tf32_128x256x32");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::int8, 8192, 8192, 8192), 90),
                 "sm90_wgmma_int8_128x256x128");
}

TEST(GemmSelection, TwoRowsOfTilesShareTheirColumns) {
    const auto shared = [](GemmType type, std::int64_t m, std::int64_t n) {
        return select_gemm(args(type, m, n, 4096), 90, 132).schedule.shared;
    };
    EXPECT_EQ(shared(GemmType::bf16, 4096, 4096), 2);
    EXPECT_EQ(shared(GemmType::bf16, 128, 4096), 1);  // one row of tiles
    EXPECT_EQ(shared(GemmType::bf16, 512, 4096), 1);  // one wave
    EXPECT_EQ(shared(GemmType::fp8, 512, 4096), 2);
}

TEST(GemmSelection, TilesInTurnFromTheSecondWaveOn) {
    const auto in_turn = [](GemmType type, std::int64_t m, std::int64_t n, std::int64_t k) {
        return std::string(gemm_kernel_name(args(type, m, n, k), 90)).find("in_turn") !=
               std::string::npos;
    };
    EXPECT_TRUE(in_turn(GemmType::bf16, 8192, 8192, 8192));
    EXPECT_TRUE(in_turn(GemmType::fp16, 8192, 28672, 4096));
    EXPECT_FALSE(in_turn(GemmType::bf16, 512, 6144, 4096));
    EXPECT_FALSE(in_turn(GemmType::bf16, 8192, 8192, 128));
    EXPECT_FALSE(in_turn(GemmType::fp8, 8192, 8192, 8192));
}

TEST(GemmSelection, FewTokensExchangeTheOperands) {
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 1, 4096, 4096), 90),
                 "sm90_decode_bf16_64x8x64");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::fp16, 33, 4096, 4096), 90),
                 "sm90_decode_fp16_64x64x64");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::fp8, 16, 4096, 4096), 90),
                 "sm90_decode_fp8_64x16x128");
    EXPECT_EQ(
        std::string(gemm_kernel_name(args(GemmType::bf16, 65, 4096, 4096), 90)).find("sm90_wgmma_"),
        0U);
    EXPECT_EQ(
        std::string(gemm_kernel_name(args(GemmType::int8, 1, 4096, 4096), 90)).find("sm90_wgmma_"),
        0U);
}

TEST(GemmSelection, APartOfKForEveryMultiprocessor) {
    const auto schedule = [](std::int64_t n, std::int64_t k) {
        return select_gemm(args(GemmType::bf16, 1, n, k), 90, 132).schedule;
    };
    EXPECT_EQ(schedule(4096, 4096).split, 2);
    EXPECT_EQ(schedule(28672, 4096).split, 1);
    EXPECT_EQ(schedule(1024, 64).split, 1);  // one stage cannot be divided
    EXPECT_EQ(schedule(768, 4096).split, 8);
    // Blocks that are all at home at once, and ones that are not.
    EXPECT_EQ(schedule(28672, 4096).stages, 4);
    EXPECT_EQ(schedule(57344, 8192).stages, 12);
}

TEST(GemmSelection, TheChosenOneIsAmongTheChoices) {
    for (const GemmType type :
         {GemmType::bf16, GemmType::fp16, GemmType::fp8, GemmType::int8, GemmType::tf32}) {
        for (const std::int64_t m : {1, 16, 64, 65, 512, 8192}) {
            const GemmArgs of_size = args(type, m, 6144, 4096);
            const GemmChoice chosen = select_gemm(of_size, 90, 132);
            int found = 0;
            for (const GemmChoice& choice : gemm_choices(of_size, 90)) {
                found += choice.kernel == chosen.kernel &&
                         choice.schedule.shared == chosen.schedule.shared &&
                         choice.schedule.split == chosen.schedule.split &&
                         choice.schedule.stages == chosen.schedule.stages;
            }
            EXPECT_EQ(found, 1) << m;
        }
    }
}

TEST(GemmSelection, HopperFallsBackWhereTmaCannotRead) {
    GemmArgs rows = args(GemmType::bf16, 512, 512, 512);
    rows.ldb = 513;
    EXPECT_STREQ(gemm_kernel_name(rows, 90), "mma_sync_bf16_128x128x32");
    GemmArgs base = args(GemmType::bf16, 512, 512, 512);
    base.a = memory + 2;
    EXPECT_STREQ(gemm_kernel_name(base, 90), "mma_sync_bf16_128x128x32");
    EXPECT_STREQ(gemm_kernel_name(args(GemmType::bf16, 512, 512, 0), 90),
                 "mma_sync_bf16_128x128x32");
}
#endif

}  // namespace
}  // namespace etalon::kernels
