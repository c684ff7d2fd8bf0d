#include "baselines/cudnn/row_problem.h"

#include <gmock/gmock.h>

namespace etalon::cudnn {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(RowProblem, ReadsTheCase) {
    const std::vector<AxisSpec> specs = {
        {.name = "rows"}, {.name = "cols"}, {.name = "pad", .optional = true, .min = 0}};
    Case key;
    key.problem = {"layernorm", Precision::fp16,
                   Axes(specs, parse_axes("rows=3,cols=10,pad=6"), "layernorm")};
    const RowProblem read = row_problem(RowOp::layernorm, key);
    EXPECT_EQ(read.precision, Precision::fp16);
    EXPECT_EQ(read.rows, 3);
    EXPECT_EQ(read.cols, 10);
    EXPECT_EQ(read.ld, 16);
}

TEST(RowProblem, ThreePrecisions) {
    for (const Precision p : all_precisions) {
        const bool taken = p == Precision::fp32 || p == Precision::bf16 || p == Precision::fp16;
        const auto why = unsupported({.op = RowOp::rmsnorm, .precision = p});
        EXPECT_EQ(why.has_value(), !taken) << etalon::name(p);
        if (!taken) {
            EXPECT_THAT(why, Optional(HasSubstr("rmsnorm in fp32, bf16 and fp16")));
        }
    }
}

TEST(RowProblem, NormsWantPackedRows) {
    EXPECT_EQ(unsupported({.op = RowOp::rmsnorm, .rows = 8, .cols = 64, .ld = 64}), std::nullopt);
    EXPECT_THAT(unsupported({.op = RowOp::rmsnorm, .rows = 8, .cols = 64, .ld = 72}),
                Optional(HasSubstr("packed rows only; these are 72 apart and have 64 columns")));
    EXPECT_TRUE(unsupported({.op = RowOp::layernorm, .rows = 8, .cols = 64, .ld = 65}).has_value());
    EXPECT_EQ(unsupported({.op = RowOp::layernorm, .rows = 1, .cols = 64, .ld = 65}), std::nullopt);
    EXPECT_EQ(unsupported({.op = RowOp::softmax, .rows = 8, .cols = 64, .ld = 72}), std::nullopt);
}

TEST(RowProblem, LegacyDescriptorsCountIn32Bits) {
    const std::int64_t most = 0x7FFFFFFF;
    EXPECT_TRUE(fits_legacy_descriptor({.rows = most, .cols = 1, .ld = 1}));
    EXPECT_FALSE(fits_legacy_descriptor({.rows = most + 1, .cols = 1, .ld = 1}));
    EXPECT_FALSE(fits_legacy_descriptor({.rows = 1, .cols = 1, .ld = most + 1}));
}

}  // namespace
}  // namespace etalon::cudnn
