#include "harness/sweep/suite.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>

namespace etalon {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
    const std::string path = ::testing::TempDir() + "suite_test.toml";
    std::ofstream(path) << text;
    try {
        (void)load_suite(path, builtin_registry(), DeviceKind::host);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        return error.what();
    }
    return "";
}

TEST(Suite, FaultsNameFileAndLine) {
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemm\"\naxes = {m=1,n=\"x\",k=1}\n"),
                HasSubstr("suite_test.toml:3: axis n must be a whole number, not text"));
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemn\"\naxes = {m=1}\n"), HasSubstr("'gemm'"));
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemm\"\naxes = {m=0,n=1,k=1}\n"),
                HasSubstr(":3: axis m=0"));
    EXPECT_THAT(refusal("[[grid]]\nop = 7\n"), HasSubstr(":2: op must be text"));
    EXPECT_THAT(refusal("oops ="), HasSubstr("suite_test.toml:1"));
    EXPECT_THAT(
        refusal("[[grid]]\nop = \"gemm\"\naxes = {m=1,n=1,k=1}\npoints = [{m=1,n=1,k=1}]\n"),
        HasSubstr("suite_test.toml:3: a grid has axes or points, not both"));
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemm\"\naxes = {m=[],n=1,k=1}\n"),
                HasSubstr(":3: axis m has no value"));
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemm\"\npoints = []\n"), HasSubstr(":3: points must be"));
}

TEST(Suite, AGridThatWouldFillTheMemoryIsRefusedFirst) {
    std::string values = "[1";
    for (int i = 2; i <= 2000; ++i) values += "," + std::to_string(i);
    values += "]";
    EXPECT_THAT(refusal("[[grid]]\nop = \"gemm\"\naxes = {m=" + values + ",n=" + values +
                        ",k=" + values + "}\n"),
                HasSubstr("suite_test.toml:3: the grid has over 1000000 points"));
}

TEST(Suite, ShippedOnesLoadAndNameNoCaseTwice) {
    const Registry registry = builtin_registry();
    for (const char* name : {"quick", "nightly", "full", "gemm-square", "gemm-llm", "gemm-tails",
                             "attention-prefill", "attention-decode"}) {
        const Suite suite = load_suite(name, registry, DeviceKind::host);
        EXPECT_FALSE(suite.cases.empty()) << name;
        for (const Case& key : suite.cases) {
            EXPECT_EQ(registry.parse_case(key.id(), DeviceKind::host), key);
        }
    }
}

}  // namespace
}  // namespace etalon
