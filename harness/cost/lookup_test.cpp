#include "harness/cost/lookup.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "harness/cost/synthetic_kernels.h"
#include "harness/testing/scratch.h"

namespace etalon::cost {
namespace {

using ::testing::HasSubstr;

Kernel kernel(const std::string& op, const std::string& axes, double us,
              const std::string& provider = "cublaslt", const std::string& variant = "",
              Precision precision = Precision::bf16) {
    return {op,
            precision,
            provider,
            variant,
            L2Mode::cold,
            parse_axes(axes),
            {1e3 * us, 1e3 * us * 0.99, 1e3 * us * 1.01},
            32};
}

Operator ask(const std::string& op, const std::string& axes,
             Precision precision = Precision::bf16) {
    Operator each{.op = op, .precision = precision, .axes = parse_axes(axes), .count = 1};
    const LeastWork work = least_work(*find_op(op), precision, each.axes);
    each.flop = work.flop;
    each.bytes = work.bytes;
    return each;
}

class LookupTest : public ::testing::Test {
   protected:
    Found find(const Operator& each, const Choice& choice = {}, const Layout& layout = {},
               bool decoding = true) {
        const KernelSet set{.gpu = "NVIDIA H200", .kernels = kernels};
        Lookup lookup(set, card);
        return lookup.find(each, layout, choice, decoding);
    }
    std::vector<Kernel> kernels;
    Card card = h200();
};

TEST_F(LookupTest, AnExactHitIsTakenVerbatim) {
    kernels = {kernel("gemm", "m=64,n=4096,k=4096", 22.9)};
    const Found found = find(ask("gemm", "m=64,n=4096,k=4096"));
    EXPECT_EQ(found.origin, Origin::measured);
    EXPECT_DOUBLE_EQ(found.time_ns.value, 22900);
    EXPECT_DOUBLE_EQ(found.time_ns.lo, 22900 * 0.99);
    EXPECT_EQ(found.from, "gemm/bf16/m=64,n=4096,k=4096/cublaslt");
}

TEST_F(LookupTest, TokensAreInterpolatedLinearly) {
    kernels = {kernel("gemm", "m=32,n=4096,k=4096", 20), kernel("gemm", "m=64,n=4096,k=4096", 24)};
    const Found found = find(ask("gemm", "m=40,n=4096,k=4096"));
    EXPECT_EQ(found.origin, Origin::interpolated);
    EXPECT_DOUBLE_EQ(found.time_ns.value, 21000);
    EXPECT_EQ(found.octaves, 0);
    // Wider than the measurements it lies between.
    EXPECT_GT(found.time_ns.hi / found.time_ns.value, 1.01);
}

TEST_F(LookupTest, DecodeIsLinearInContextAndBatchPrefillInTheRootOfTime) {
    const std::string heads = "heads=32,kv_heads=8,head_dim=128";
    for (const auto& [at, us] : {std::pair{"batch=16,context=1024", 10.0},
                                 {"batch=16,context=2048", 20.0},
                                 {"batch=32,context=1024", 20.0},
                                 {"batch=32,context=2048", 40.0}}) {
        kernels.push_back(kernel("attention_decode", std::string(at) + "," + heads, us));
    }
    EXPECT_DOUBLE_EQ(find(ask("attention_decode", "batch=24,context=1536," + heads)).time_ns.value,
                     22500);
    kernels = {kernel("attention_prefill", "batch=1,seq=1024,causal=1," + heads, 4),
               kernel("attention_prefill", "batch=1,seq=2048,causal=1," + heads, 16)};
    EXPECT_DOUBLE_EQ(
        find(ask("attention_prefill", "batch=1,seq=1536,causal=1," + heads)).time_ns.value, 9000);
}

TEST_F(LookupTest, UtilisationIsBorrowedWithinTwoOctavesAndNoFarther) {
    const double roof = card.roof_ns(
        {ask("gemm", "m=64,n=8192,k=4096").flop, ask("gemm", "m=64,n=8192,k=4096").bytes},
        Precision::bf16);
    kernels = {kernel("gemm", "m=64,n=8192,k=4096", roof / 1e3 / 0.5)};
    const Operator near = ask("gemm", "m=64,n=16384,k=4096");
    const Found found = find(near);
    EXPECT_EQ(found.origin, Origin::interpolated);
    EXPECT_NEAR(found.time_ns.value, card.roof_ns({near.flop, near.bytes}, near.precision) / 0.5,
                1e-6);
    EXPECT_NEAR(found.octaves, 1, 1e-12);
    EXPECT_THAT(found.from, HasSubstr("utilisation of m=64,n=8192,k=4096"));
    EXPECT_EQ(find(ask("gemm", "m=64,n=32768,k=4096")).origin, Origin::interpolated);
    EXPECT_EQ(find(ask("gemm", "m=64,n=32769,k=4096")).origin, Origin::missing);
    EXPECT_EQ(find(ask("gemm", "m=257,n=8192,k=4096")).origin, Origin::missing);
    EXPECT_EQ(find(ask("gemm", "m=64,n=8192,k=4096", Precision::fp8)).origin, Origin::missing);
}

TEST_F(LookupTest, WhatComputesOrCommunicatesIsNeverMadeUp) {
    kernels = {kernel("all_reduce", "gpus=8,elements=8192", 9)};
    EXPECT_EQ(find(ask("all_reduce", "gpus=8,elements=8193")).origin, Origin::missing);
    EXPECT_EQ(find(ask("all_reduce", "gpus=4,elements=8192")).origin, Origin::missing);
    EXPECT_EQ(find(ask("all_reduce", "gpus=8,elements=8192")).origin, Origin::measured);
    EXPECT_EQ(find(ask("attention_decode", "batch=1,heads=32,kv_heads=8,head_dim=64,context=1024"))
                  .origin,
              Origin::missing);
}

TEST_F(LookupTest, RowKernelsAreModelledAtCopyBandwidth) {
    const Operator each = ask("silu_mul", "rows=4096,cols=14336");
    const Found found = find(each);
    EXPECT_EQ(found.origin, Origin::modelled);
    EXPECT_DOUBLE_EQ(found.time_ns.value, card.small_kernel_ns + each.bytes / card.copy_gb_s);
    EXPECT_LT(found.time_ns.lo, 0.6 * found.time_ns.value);
}

TEST_F(LookupTest, AMeasurementBeatsAFasterGuess) {
    kernels = {kernel("gemm", "m=64,n=4096,k=4096", 30, "cublaslt"),
               kernel("gemm", "m=32,n=4096,k=4096", 1, "etalon"),
               kernel("gemm", "m=128,n=4096,k=4096", 2, "etalon")};
    EXPECT_EQ(find(ask("gemm", "m=64,n=4096,k=4096")).provider, "cublaslt");
}

TEST_F(LookupTest, ImplementationsChooseTheirProviders) {
    const char* axes = "m=64,n=4096,k=4096";
    kernels = {kernel("gemm", axes, 30, "cublaslt", "first"), kernel("gemm", axes, 25, "cublaslt"),
               kernel("gemm", axes, 24, "etalon"), kernel("gemm", axes, 20, "trtllm")};
    const auto chosen = [&](const Choice& choice) {
        return find(ask("gemm", axes), choice).provider;
    };
    EXPECT_EQ(chosen({Impl::framework, {}}), "cublaslt+first");
    EXPECT_EQ(chosen({Impl::vendor, {}}), "cublaslt");
    EXPECT_EQ(chosen({Impl::etalon, {}}), "etalon");
    EXPECT_EQ(chosen({Impl::best, {}}), "trtllm");
    EXPECT_EQ(chosen({Impl::best, {"cublaslt"}}), "cublaslt");
    EXPECT_EQ(find(ask("gemm", axes), {Impl::best, {"vllm"}}).origin, Origin::missing);
}

TEST_F(LookupTest, StaticScalesAreDynamicOnesLessTheQuantiseAndNeverUnderTheRoofline) {
    const char* axes = "m=64,n=4096,k=4096";
    kernels = {kernel("gemm", axes, 30, "trtllm", "dynamic", Precision::fp8),
               kernel("quantize_computescale", "m=64,k=4096", 7, "trtllm", "", Precision::fp8),
               kernel("quantize_scale_matrix", "m=64,k=4096", 2, "trtllm", "", Precision::fp8)};
    const Operator each = ask("gemm", axes, Precision::fp8);
    const Layout fixed{.precision = Precision::fp8, .static_scales = true};
    const Layout dynamic{.precision = Precision::fp8};
    EXPECT_DOUBLE_EQ(find(each, {}, fixed).time_ns.value, 21000);
    EXPECT_DOUBLE_EQ(find(each, {}, dynamic).time_ns.value, 30000);
    kernels[1].time_ns.value = 29000;
    EXPECT_DOUBLE_EQ(find(each, {}, fixed).time_ns.value,
                     card.roof_ns({each.flop, each.bytes}, each.precision));
}

TEST_F(LookupTest, AGraphIsLookedUpForDecodeAndTheCpuForPrefill) {
    kernels = {kernel("all_reduce", "gpus=2,elements=8192", 9, "vllm-eager"),
               kernel("all_reduce", "gpus=2,elements=8192", 5, "vllm-graph")};
    const Operator each = ask("all_reduce", "gpus=2,elements=8192");
    EXPECT_EQ(find(each, {Impl::best, {"vllm"}}, {}, true).provider, "vllm-graph");
    EXPECT_EQ(find(each, {Impl::best, {"vllm"}}, {}, false).provider, "vllm-eager");
}

TEST_F(LookupTest, AChunkIsTheWholeLessWhatCameBefore) {
    const std::string heads = "heads=32,kv_heads=8,head_dim=128,causal=1";
    kernels = {kernel("attention_prefill", "batch=1,seq=512," + heads, 10),
               kernel("attention_prefill", "batch=1,seq=1024," + heads, 35)};
    const Found found = find(ask("attention_prefill", "batch=1,seq=512,cached=512," + heads));
    EXPECT_DOUBLE_EQ(found.time_ns.value, 25000);
    EXPECT_EQ(found.origin, Origin::interpolated);
}

TEST_F(LookupTest, ExpertsAreModelledAsOneProductAsWideAsAllOfThem) {
    // 8 experts of 4 rows each: as 4 rows by 8 times the columns.
    const Operator wide = ask("gemm", "m=4,n=8192,k=4096");
    const double roof = card.roof_ns({wide.flop, wide.bytes}, Precision::bf16);
    kernels = {kernel("gemm", "m=4,n=8192,k=4096", roof / 1e3 / 0.5)};
    const Operator each = ask("grouped_gemm", "experts=8,m=32,n=1024,k=4096");
    const Found found = find(each);
    EXPECT_EQ(found.origin, Origin::modelled);
    EXPECT_NEAR(found.time_ns.value, card.roof_ns({each.flop, each.bytes}, each.precision) / 0.5,
                1e-6);
    EXPECT_LT(found.time_ns.lo, 0.7 * found.time_ns.value);
}

TEST_F(LookupTest, TheOrderOfRowsDoesNotMatter) {
    std::mt19937_64 random(fresh_seed());
    std::uniform_real_distribution<double> us(5, 50);
    for (const int m : {1, 8, 64, 512}) {
        for (const int n : {1024, 4096, 10240, 16384}) {
            for (const char* provider : {"cublaslt", "etalon"}) {
                kernels.push_back(
                    kernel("gemm", fmt::format("m={},n={},k=4096", m, n), us(random), provider));
            }
        }
    }
    const std::vector<Operator> asked = {ask("gemm", "m=64,n=4096,k=4096"),
                                         ask("gemm", "m=100,n=6144,k=4096"),
                                         ask("gemm", "m=600,n=5120,k=5120")};
    std::vector<Found> before;
    for (const Operator& each : asked) before.push_back(find(each));
    for (int i = 0; i < 5; ++i) {
        std::shuffle(kernels.begin(), kernels.end(), random);
        for (std::size_t j = 0; j < asked.size(); ++j) {
            EXPECT_EQ(find(asked[j]).time_ns, before[j].time_ns);
            EXPECT_EQ(find(asked[j]).from, before[j].from);
        }
    }
}

}  // namespace
}  // namespace etalon::cost
