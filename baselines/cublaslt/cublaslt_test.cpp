// What the provider says on a machine without the library, or with another release of it.

#include <gmock/gmock.h>

#include "baselines/common/fake_device.h"
#include "baselines/cublaslt/cublaslt_library.h"
#include "bench/providers.h"

namespace etalon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
using ::testing::StartsWith;

Case gemm() {
    const std::vector<AxisSpec> specs = {
        {.name = "m"}, {.name = "n"}, {.name = "k"}, {.name = "pad", .optional = true, .min = 0}};
    Case key;
    key.problem = {"gemm", Precision::bf16, Axes(specs, parse_axes("m=8,n=8,k=8"), "gemm")};
    key.provider = "cublaslt";
    return key;
}

TEST(CublasltLibrary, MissingFile) {
    const ScopedVariable path("ETALON_CUBLASLT", "/nonexistent/libcublasLt.so.13");
    EXPECT_EQ(cublaslt_version(), "");
    EXPECT_EQ(cublaslt_problem(),
              "cuBLASLt 13 cannot be opened (/nonexistent/libcublasLt.so.13: cannot open shared "
              "object file: No such file or directory); pip install nvidia-cublas, then set "
              "ETALON_CUBLASLT to its libcublasLt.so.13");
}

TEST(CublasltLibrary, AnotherMajorVersion) {
    const ScopedVariable path("ETALON_CUBLASLT", FAKE_CUBLASLT_12);
    EXPECT_EQ(cublaslt_version(), "12.8.5");
    EXPECT_THAT(cublaslt_problem(), HasSubstr("is cuBLASLt 12.8.5, and this build needs cuBLASLt "
                                              "13; "));
}

TEST(CublasltProvider, SaysSoForEveryCase) {
    const ScopedVariable path("ETALON_CUBLASLT", "/nonexistent");
    const Providers providers = cublaslt_providers();
    ASSERT_EQ(providers.size(), 1U);
    const Provider& provider = *providers.front();
    EXPECT_EQ(provider.op(), "gemm");
    EXPECT_THAT(provider.variants(), ElementsAre("first", "fastaccum"));
    FakeDevice device;
    const std::optional<std::string> why = provider.unsupported(gemm(), device);
    EXPECT_THAT(why, Optional(StartsWith("cuBLASLt 13 cannot be opened")));
    EXPECT_THAT(why, Optional(Not(HasSubstr("\n"))));
    try {
        (void)provider.prepare(gemm(), device, {});
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::device_failure);
        EXPECT_EQ(error.what(), *why);
    }
}

}  // namespace
}  // namespace etalon
