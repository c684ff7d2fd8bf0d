// What the providers say on a machine without the library, or with another release of it.

#include <gmock/gmock.h>

#include "baselines/common/fake_device.h"
#include "baselines/cudnn/cudnn_library.h"
#include "bench/providers.h"

namespace etalon {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Case row_case(std::string_view op, Precision precision) {
    const std::vector<AxisSpec> specs = {
        {.name = "rows"}, {.name = "cols"}, {.name = "pad", .optional = true, .min = 0}};
    Case key;
    key.problem = {std::string(op), precision, Axes(specs, parse_axes("rows=8,cols=64"), op)};
    key.provider = "cudnn";
    return key;
}

TEST(CudnnLibrary, MissingFile) {
    const ScopedVariable path("ETALON_CUDNN", "/nonexistent");
    EXPECT_EQ(cudnn_version(), "");
    EXPECT_EQ(
        cudnn_problem(),
        "cuDNN 9 cannot be opened (/nonexistent: cannot open shared object file: No such file "
        "or directory); pip install nvidia-cudnn-cu13, then set ETALON_CUDNN to its "
        "libcudnn.so.9");
}

TEST(CudnnLibrary, AnotherMajorVersion) {
    const ScopedVariable path("ETALON_CUDNN", FAKE_CUDNN_8);
    EXPECT_EQ(cudnn_version(), "8.9.0");
    EXPECT_THAT(cudnn_problem(), StartsWith(FAKE_CUDNN_8));
    EXPECT_THAT(cudnn_problem(),
                EndsWith(" is cuDNN 8.9.0, and this build needs cuDNN 9; pip install "
                         "nvidia-cudnn-cu13, then set ETALON_CUDNN to its libcudnn.so.9"));
}

// The fake of this major has a version and no functions.
TEST(CudnnLibrary, ARightVersionIsNoProblem) {
    const ScopedVariable path("ETALON_CUDNN", FAKE_CUDNN_9);
    EXPECT_EQ(cudnn_version(), "9.14.0");
    EXPECT_EQ(cudnn_problem(), "");
    FakeDevice device;
    try {
        (void)cudnn_providers().front()->prepare(row_case("softmax", Precision::bf16), device, {});
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "cuDNN 9.14.0 has no cudnnCreate; install a newer release of "
                     "nvidia-cudnn-cu13");
    }
}

TEST(CudnnProviders, SayTheirVariants) {
    const Providers providers = cudnn_providers();
    ASSERT_EQ(providers.size(), 3U);
    EXPECT_EQ(providers[0]->op(), "softmax");
    EXPECT_THAT(providers[0]->variants(), ElementsAre("legacy", "graph"));
    EXPECT_EQ(providers[1]->op(), "rmsnorm");
    EXPECT_THAT(providers[1]->variants(), ElementsAre("first"));
    EXPECT_EQ(providers[2]->op(), "layernorm");
}

TEST(CudnnProviders, SaySoForEveryCaseWithoutTheLibrary) {
    const ScopedVariable path("ETALON_CUDNN", "/nonexistent");
    FakeDevice device;
    for (const auto& provider : cudnn_providers()) {
        const Case key = row_case(provider->op(), Precision::bf16);
        const auto why = provider->unsupported(key, device);
        ASSERT_TRUE(why.has_value());
        EXPECT_THAT(*why, StartsWith("cuDNN 9 cannot be opened"));
        EXPECT_THAT(*why, Not(HasSubstr("\n")));
        try {
            (void)provider->prepare(key, device, {});
            FAIL() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::device_failure);
            EXPECT_EQ(error.what(), *why);
        }
    }
}

TEST(CudnnProviders, RefuseOtherPrecisions) {
    const ScopedVariable path("ETALON_CUDNN", FAKE_CUDNN_9);
    FakeDevice device;
    for (const auto& provider : cudnn_providers()) {
        EXPECT_EQ(provider->unsupported(row_case(provider->op(), Precision::fp32), device),
                  std::nullopt);
        EXPECT_NE(provider->unsupported(row_case(provider->op(), Precision::fp8), device),
                  std::nullopt);
    }
}

}  // namespace
}  // namespace etalon
