#include "harness/core/case.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"

namespace etalon {
namespace {

const std::vector<AxisSpec> gemm_axes = {
    {.name = "m", .max = 1 << 20},
    {.name = "n", .max = 1 << 20},
    {.name = "k", .max = 1 << 20},
    {.name = "pad", .default_value = 0, .optional = true, .min = 0, .max = 1024}};

Axes axes_of(std::string_view text) {
    return Axes(gemm_axes, parse_axes(text), "gemm");
}

std::string error_of(std::string_view text) {
    try {
        (void)axes_of(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "no error";
}

TEST(Axes, OrderAndSpellingAreCanonical) {
    EXPECT_EQ(axes_of("k=3,m=1,n=2").text(), "m=1,n=2,k=3");
    EXPECT_EQ(axes_of(" k = 3 ; m=1;n=0002").text(';'), "m=1;n=2;k=3");
    EXPECT_EQ(axes_of("m=1,n=2,k=3,pad=0"), axes_of("m=1,n=2,k=3"));
    EXPECT_EQ(axes_of("m=1,n=2,k=3,pad=8").text(), "m=1,n=2,k=3,pad=8");
    EXPECT_EQ(axes_of("m=1,n=2,k=3,pad=8").at("pad"), 8);
}

TEST(Axes, BadValuesNameTheAxis) {
    EXPECT_EQ(error_of("m=0,n=1,k=1"),
              "axis m=0 of op 'gemm' is out of range; it takes 1 to 1048576");
    EXPECT_EQ(error_of("m=-4,n=1,k=1"),
              "axis m=-4 of op 'gemm' is out of range; it takes 1 to 1048576");
    EXPECT_EQ(error_of("m=1.0,n=1,k=1"),
              "axis m='1.0' is not a whole decimal number that fits 64 bits");
    EXPECT_EQ(error_of("m=1e3,n=1,k=1"),
              "axis m='1e3' is not a whole decimal number that fits 64 bits");
    EXPECT_EQ(error_of("m=99999999999999999999,n=1,k=1"),
              "axis m='99999999999999999999' is not a whole decimal number that fits 64 bits");
    EXPECT_EQ(error_of("m,n=1,k=1"), "'m' is not an axis; write name=value, as in m=4096");
    EXPECT_EQ(error_of("m=1,n=1"), "axis 'k' of op 'gemm' is missing; give m, n, k, pad");
    EXPECT_EQ(error_of("m=1,n=1,k=1,m=2"), "axis 'm' of op 'gemm' is given twice; leave one");
    EXPECT_EQ(error_of("m=1,n=1,k=1,pda=2"),
              "unknown gemm axis 'pda'; did you mean 'pad'? (known: m, n, k, pad)");
}

TEST(Case, IdIsCanonicalText) {
    Case key{
        {"gemm", Precision::bf16, axes_of("m=4096,n=4096,k=4096")}, "cublaslt", "", L2Mode::cold};
    EXPECT_EQ(key.id(), "gemm/bf16/m=4096,n=4096,k=4096/cublaslt/cold");
    key.variant = "first";
    key.l2 = L2Mode::hot;
    EXPECT_EQ(key.id(), "gemm/bf16/m=4096,n=4096,k=4096/cublaslt+first/hot");
}

TEST(Case, SplitsItsId) {
    const CaseIdParts parts = split_case_id("gemm/bf16/m=1,n=2,k=3/cublaslt+first/hot");
    EXPECT_EQ(parts.op, "gemm");
    EXPECT_EQ(parts.axes, "m=1,n=2,k=3");
    EXPECT_EQ(parts.provider, "cublaslt");
    EXPECT_EQ(parts.variant, "first");
    EXPECT_EQ(parts.l2, "hot");
    EXPECT_THROW((void)split_case_id("gemm/bf16"), Error);
}

}  // namespace
}  // namespace etalon
