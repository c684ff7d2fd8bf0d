#include "harness/core/precision.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/core/error.h"

namespace etalon {
namespace {

TEST(Precision, NamesRoundTrip) {
    for (const Precision precision : all_precisions) {
        EXPECT_EQ(parse_precision(name(precision)), precision);
    }
    EXPECT_EQ(parse_precision("half"), Precision::fp16);
    EXPECT_EQ(parse_precision("e4m3"), Precision::fp8);
}

TEST(Precision, UnknownNameSuggests) {
    try {
        (void)parse_precision("bf61");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  "unknown precision 'bf61'; did you mean 'bf16'? (known: fp32, tf32, bf16, fp16, "
                  "fp8, int8)");
        EXPECT_EQ(error.code(), ExitCode::usage);
    }
}

TEST(Precision, StorageTypes) {
    EXPECT_EQ(input_dtype(Precision::tf32), DType::f32);
    EXPECT_EQ(output_dtype(Precision::fp8), DType::bf16);
    EXPECT_EQ(output_dtype(Precision::int8), DType::i32);
    EXPECT_EQ(bytes_of(DType::e4m3), 1u);
}

}  // namespace
}  // namespace etalon
