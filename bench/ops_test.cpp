#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "bench/attention_problem.h"
#include "bench/op.h"

namespace etalon {
namespace {

Problem problem(const std::string& op, Precision precision, std::vector<Axis> axes) {
    const Registry registry = builtin_registry();
    return {op, precision, Axes(registry.op(op).axes(), axes, op)};
}

TEST(Work, OfAGemm) {
    const Registry registry = builtin_registry();
    const Work bf16 =
        registry.op("gemm").work(problem("gemm", Precision::bf16, {{"m", 2}, {"n", 3}, {"k", 5}}));
    EXPECT_EQ(bf16.flop, 60);
    EXPECT_EQ(bf16.bytes_min, 2 * (10 + 15 + 6));
    const Work fp8 =
        registry.op("gemm").work(problem("gemm", Precision::fp8, {{"m", 2}, {"n", 3}, {"k", 5}}));
    EXPECT_EQ(fp8.bytes_min, 10 + 15 + 2 * 6);
    const Work int8 =
        registry.op("gemm").work(problem("gemm", Precision::int8, {{"m", 2}, {"n", 3}, {"k", 5}}));
    EXPECT_EQ(int8.bytes_min, 10 + 15 + 4 * 6);
}

TEST(Work, OfRowsAndCopies) {
    const Registry registry = builtin_registry();
    EXPECT_EQ(registry.op("layernorm")
                  .work(problem("layernorm", Precision::bf16, {{"rows", 4}, {"cols", 8}}))
                  .bytes_min,
              2 * (2 * 32 + 2 * 8));
    EXPECT_EQ(registry.op("copy").work(problem("copy", Precision::fp32, {{"n", 7}})).bytes_min, 56);
}

// Against the pairs counted one by one, over the lengths of the sequences.
TEST(Work, OfAttention) {
    const Registry registry = builtin_registry();
    const auto work = [&](const char* op, Precision precision, const char* axes) {
        return registry.op(op).work(problem(op, precision, parse_axes(axes)));
    };
    const std::string heads = "heads=8,kv_heads=2,head_dim=64,";
    // 3 new tokens after 4: the first sees 5 keys, the last 7; with a window of 2, two each.
    const std::string tail = "batch=2," + heads + "seq=3,cached=4,causal=";
    const double row = 2 * 8 * (64 + 64);  // sequences, heads, both products
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "1").c_str()).flop,
              2 * row * (5 + 6 + 7));
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "0").c_str()).flop, 2 * row * 21);
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "1,window=2").c_str()).flop,
              2 * row * 6);
    const double queries = 2 * 3 * 8 * 64;
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "1").c_str()).bytes_min,
              2 * (2 * queries + 2 * 2 * 7 * 2 * 64));
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "1,window=2").c_str()).bytes_min,
              2 * (2 * queries + 2 * 2 * 4 * 2 * 64));
    EXPECT_EQ(work("attention_prefill", Precision::fp8, (tail + "1").c_str()).bytes_min,
              3 * queries + 2 * 2 * 7 * 2 * 64);
    EXPECT_EQ(work("attention_prefill", Precision::bf16, (tail + "1,value_dim=16").c_str()).flop,
              2 * 2 * 8 * (64 + 16) * 18);

    const Work decode = work("attention_decode", Precision::fp8,
                             ("batch=2," + heads + "context=10,queries=2").c_str());
    EXPECT_EQ(decode.flop, 2 * row * (9 + 10));
    EXPECT_EQ(decode.bytes_min, 2 * 10 * 2 * 2 * 64 + 2 * (2 * 2 * 2 * 8 * 64));
    // Pages change where tokens lie, not how many there are.
    EXPECT_EQ(work("attention_decode", Precision::bf16,
                   ("batch=2," + heads + "context=10,page=16").c_str())
                  .bytes_min,
              work("attention_decode", Precision::bf16, ("batch=2," + heads + "context=10").c_str())
                  .bytes_min);
    const Work ragged = work("attention_decode", Precision::bf16,
                             ("batch=64," + heads + "context=1000,ragged=1").c_str());
    EXPECT_LT(ragged.flop, 0.8 * 4 * 64 * 8 * 64 * 1000);
    EXPECT_GT(ragged.flop, 0.45 * 4 * 64 * 8 * 64 * 1000);
}

TEST(Tolerance, FollowsPrecisionAndReductionLength) {
    const Registry registry = builtin_registry();
    const Op& gemm = registry.op("gemm");
    const auto of = [&](Precision p, std::int64_t k) {
        return gemm.tolerance(problem("gemm", p, {{"m", 64}, {"n", 64}, {"k", k}})).relative;
    };
    EXPECT_LT(of(Precision::fp32, 64), of(Precision::fp32, 4096));
    EXPECT_LT(of(Precision::fp32, 4096), of(Precision::bf16, 4096));
    EXPECT_LT(of(Precision::fp16, 4096), of(Precision::bf16, 4096));
    EXPECT_EQ(of(Precision::int8, 4096), 0);
    // Never so wide that a matrix of zeros (relative error 1) or one row left out could pass.
    for (const Precision p : gemm.precisions()) EXPECT_LT(of(p, 16384), 0.03);
}

TEST(Elasticity, PriorIsHighForComputeAndLowForMemory) {
    const Registry registry = builtin_registry();
    const Op& gemm = registry.op("gemm");
    EXPECT_GT(gemm.prior_elasticity(
                  problem("gemm", Precision::bf16, {{"m", 8192}, {"n", 8192}, {"k", 4096}})),
              0.85);
    EXPECT_LT(gemm.prior_elasticity(
                  problem("gemm", Precision::bf16, {{"m", 1}, {"n", 28672}, {"k", 4096}})),
              0.15);
}

// On the CPU, with the real reference: it must agree with a sum written out here.
TEST(Reference, GemmOnTheHost) {
    const Registry registry = builtin_registry();
    const std::unique_ptr<Device> device = open_device("host");
    const Problem p = problem("gemm", Precision::fp32, {{"m", 3}, {"n", 4}, {"k", 5}, {"pad", 2}});
    const Op& op = registry.op("gemm");
    BufferSet buffers;
    for (const TensorSpec& spec : op.tensors(p)) {
        buffers.push_back(device->allocate(spec.layout.bytes()));
        device->fill(buffers.back(), spec.layout, {}, 3 + buffers.size());
    }
    std::vector<Buffer> out;
    out.push_back(device->allocate(12 * sizeof(double)));
    op.reference(*device, p, buffers, out);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 4; ++j) {
            double sum = 0;
            for (int l = 0; l < 5; ++l) {
                sum += static_cast<double>(buffers[0].as<float>()[i * 7 + l]) *
                       static_cast<double>(buffers[1].as<float>()[j * 7 + l]);
            }
            EXPECT_NEAR(out[0].as<double>()[i * 4 + j], sum, 1e-12);
        }
    }
}

TEST(AttentionProblem, PagesAreEachUsedOnce) {
    const AttentionProblem p = attention_problem(
        problem("attention_decode", Precision::bf16,
                parse_axes("batch=5,heads=8,kv_heads=2,head_dim=64,context=100,page=16")));
    std::vector<std::int32_t> pages = page_table(p);
    EXPECT_FALSE(std::is_sorted(pages.begin(), pages.end()));
    std::sort(pages.begin(), pages.end());
    ASSERT_EQ(pages.size(), 35U);
    for (std::size_t i = 0; i < pages.size(); ++i) {
        EXPECT_EQ(pages[i], static_cast<std::int32_t>(i));
    }
}

TEST(AttentionProblem, MisfitsSayWhatToChange) {
    const auto misfit = [](const char* op, const char* axes) {
        return attention_misfit(problem(op, Precision::bf16, parse_axes(axes))).value_or("");
    };
    EXPECT_EQ(misfit("attention_decode", "batch=1,heads=6,kv_heads=4,head_dim=64,context=9"),
              "heads=6 is no multiple of kv_heads=4; give a multiple");
    EXPECT_EQ(
        misfit("attention_decode", "batch=1,heads=4,kv_heads=4,head_dim=64,context=9,queries=10"),
        "queries=10 are part of context=9; give a longer context");
    EXPECT_EQ(misfit("attention_prefill",
                     "batch=1,heads=4,kv_heads=4,head_dim=64,seq=9,causal=0,window=3"),
              "window goes with causal=1; leave out one of them");
}

}  // namespace
}  // namespace etalon
