#include <gmock/gmock.h>

#include <cmath>

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

}  // namespace
}  // namespace etalon
