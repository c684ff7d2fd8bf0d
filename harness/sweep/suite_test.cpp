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
}

TEST(Suite, ShippedOnesLoadAndNameNoCaseTwice) {
    const Registry registry = builtin_registry();
    for (const char* name : {"quick", "nightly", "full", "gemm-square", "gemm-llm", "gemm-tails"}) {
        const Suite suite = load_suite(name, registry, DeviceKind::host);
        EXPECT_FALSE(suite.cases.empty()) << name;
        for (const Case& key : suite.cases) {
            EXPECT_EQ(registry.parse_case(key.id(), DeviceKind::host), key);
        }
    }
}

}  // namespace
}  // namespace etalon
