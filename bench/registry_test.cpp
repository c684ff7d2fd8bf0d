#include <gmock/gmock.h>

#include "bench/op.h"

namespace etalon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::string& id, DeviceKind kind = DeviceKind::host) {
    try {
        (void)builtin_registry().parse_case(id, kind);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(Registry, ParsesACaseIntoItsCanonicalSpelling) {
    const Registry registry = builtin_registry();
    const Case key =
        registry.parse_case("gemm/bfloat16/n=3,m=2,k=5,pad=0/etalon/cold", DeviceKind::host);
    EXPECT_EQ(key.id(), "gemm/bf16/m=2,n=3,k=5/etalon/cold");
    EXPECT_EQ(registry.parse_case(key.id(), DeviceKind::host), key);
}

TEST(Registry, EachUnknownNameGetsTheNearest) {
    EXPECT_THAT(refusal("gemn/bf16/m=2,n=3,k=5/etalon/cold"),
                AllOf(HasSubstr("op"), HasSubstr("did you mean 'gemm'"), HasSubstr("softmax")));
    EXPECT_THAT(refusal("gemm/bf17/m=2,n=3,k=5/etalon/cold"), HasSubstr("did you mean 'bf16'"));
    EXPECT_THAT(refusal("softmax/fp8/rows=2,cols=3/etalon/cold"), HasSubstr("precision of op"));
    EXPECT_THAT(refusal("softmax/fp32/row=2,cols=3/etalon/cold"), HasSubstr("did you mean 'rows'"));
    EXPECT_THAT(refusal("softmax/fp32/rows=2,cols=3/etalom/cold"),
                HasSubstr("did you mean 'etalon'"));
    EXPECT_THAT(refusal("softmax/fp32/rows=2,cols=3/etalon+x/cold"), HasSubstr("no variants"));
    EXPECT_THAT(refusal("softmax/fp32/rows=2,cols=3/etalon/warm"), HasSubstr("L2 mode"));
}

TEST(Registry, BadAxisValues) {
    EXPECT_THAT(refusal("softmax/fp32/rows=0,cols=3/etalon/cold"), HasSubstr("rows=0"));
    EXPECT_THAT(refusal("softmax/fp32/rows=-4,cols=3/etalon/cold"), HasSubstr("rows=-4"));
    EXPECT_THAT(refusal("softmax/fp32/rows=many,cols=3/etalon/cold"), HasSubstr("whole decimal"));
    EXPECT_THAT(refusal("softmax/fp32/rows=99999999999999999999,cols=3/etalon/cold"),
                HasSubstr("64 bits"));
    EXPECT_THAT(refusal("softmax/fp32/cols=3/etalon/cold"), HasSubstr("'rows'"));
}

TEST(Registry, EveryOpHasItsBaselineAndOursOnTheCpu) {
    const Registry registry = builtin_registry();
    EXPECT_EQ(registry.ops().size(), 7U);
    for (const auto& op : registry.ops()) {
        (void)registry.provider(op->name(), "etalon", DeviceKind::host);
        (void)registry.provider(op->name(), op->baseline(DeviceKind::host), DeviceKind::host);
    }
}

}  // namespace
}  // namespace etalon
