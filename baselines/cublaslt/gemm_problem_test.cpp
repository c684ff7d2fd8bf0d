#include "baselines/cublaslt/gemm_problem.h"

#include <gmock/gmock.h>

namespace etalon::cublaslt {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr int hopper = 90;

GemmProblem problem(Precision precision, std::int64_t m, std::int64_t n, std::int64_t k,
                    std::int64_t pad = 0) {
    return {.precision = precision, .m = m, .n = n, .k = k, .ld_in = k + pad, .ld_out = n + pad};
}

TEST(GemmProblem, ReadsTheCase) {
    const std::vector<AxisSpec> specs = {
        {.name = "m"}, {.name = "n"}, {.name = "k"}, {.name = "pad", .optional = true, .min = 0}};
    Case key;
    key.problem = {"gemm", Precision::fp8, Axes(specs, parse_axes("m=1,n=2,k=3,pad=5"), "gemm")};
    key.variant = "fastaccum";
    const GemmProblem read = gemm_problem(key);
    EXPECT_EQ(read.m, 1);
    EXPECT_EQ(read.n, 2);
    EXPECT_EQ(read.k, 3);
    EXPECT_EQ(read.ld_in, 8);
    EXPECT_EQ(read.ld_out, 7);
    EXPECT_TRUE(read.fast_accumulate);
}

TEST(GemmUnsupported, OddSizesAreFineInFloatingTypesOf16And32Bits) {
    for (const Precision p : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
        EXPECT_EQ(unsupported(problem(p, 31, 33, 17, 3), hopper), std::nullopt) << name(p);
    }
}

TEST(GemmUnsupported, Fp8WantsRowsOf16Bytes) {
    EXPECT_EQ(unsupported(problem(Precision::fp8, 31, 40, 64), hopper), std::nullopt);
    EXPECT_EQ(unsupported(problem(Precision::fp8, 1, 16, 16, 16), hopper), std::nullopt);
    EXPECT_THAT(unsupported(problem(Precision::fp8, 32, 32, 40), hopper),
                Optional(HasSubstr("with k a multiple of 16, not 40")));
    EXPECT_THAT(unsupported(problem(Precision::fp8, 32, 32, 64, 8), hopper),
                Optional(HasSubstr("the inputs' row of k + pad a multiple of 16, not 72")));
    EXPECT_THAT(unsupported(problem(Precision::fp8, 32, 33, 64), hopper),
                Optional(HasSubstr("the output's row of n + pad a multiple of 8, not 33")));
}

TEST(GemmUnsupported, Int8WantsMultiplesOfFour) {
    EXPECT_EQ(unsupported(problem(Precision::int8, 31, 36, 20, 4), hopper), std::nullopt);
    EXPECT_THAT(unsupported(problem(Precision::int8, 32, 32, 18), hopper),
                Optional(HasSubstr("with k a multiple of 4")));
    EXPECT_THAT(unsupported(problem(Precision::int8, 32, 34, 16), hopper),
                Optional(HasSubstr("with n a multiple of 4")));
    EXPECT_THAT(unsupported(problem(Precision::int8, 32, 32, 16, 1), hopper),
                Optional(HasSubstr("with pad a multiple of 4")));
}

TEST(GemmUnsupported, OlderDevices) {
    EXPECT_THAT(unsupported(problem(Precision::fp8, 32, 32, 32), 80),
                Optional(HasSubstr("fp8 needs compute capability 8.9; this device has 8.0")));
    EXPECT_EQ(unsupported(problem(Precision::fp8, 32, 32, 32), 89), std::nullopt);
    EXPECT_THAT(unsupported(problem(Precision::bf16, 32, 32, 32), 75), Optional(HasSubstr("8.0")));
}

TEST(GemmUnsupported, FastAccumulationIsFp8s) {
    GemmProblem fast = problem(Precision::bf16, 32, 32, 32);
    fast.fast_accumulate = true;
    EXPECT_THAT(unsupported(fast, hopper), Optional(HasSubstr("not for bf16")));
    fast.precision = Precision::fp8;
    EXPECT_EQ(unsupported(fast, hopper), std::nullopt);
}

}  // namespace
}  // namespace etalon::cublaslt
