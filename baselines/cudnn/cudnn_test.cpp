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

Case small_case(std::string_view op, Precision precision) {
    std::vector<AxisSpec> specs = {
        {.name = "rows"}, {.name = "cols"}, {.name = "pad", .optional = true, .min = 0}};
    std::string axes = "rows=8,cols=64";
    if (op.starts_with("attention")) {
        specs.clear();
        for (const char* axis : {"batch", "heads", "kv_heads", "head_dim", "seq", "context"}) {
            specs.push_back({.name = axis, .default_value = 8, .optional = true});
        }
        for (const char* axis : {"causal", "cached", "window", "value_dim", "page", "ragged"}) {
            specs.push_back({.name = axis, .optional = true, .min = 0});
        }
        specs.push_back({.name = "queries", .default_value = 1, .optional = true});
        axes = "batch=1";
    }
    Case key;
    key.problem = {std::string(op), precision, Axes(specs, parse_axes(axes), op)};
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
        (void)cudnn_providers().front()->prepare(small_case("softmax", Precision::bf16), device,
                                                 {});
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "cuDNN 9.14.0 has no cudnnCreate; install a newer release of "
                     "nvidia-cudnn-cu13");
    }
}

TEST(CudnnProviders, SayTheirVariants) {
    const Providers providers = cudnn_providers();
    ASSERT_EQ(providers.size(), 5U);
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
        const Case key = small_case(provider->op(), Precision::bf16);
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
        const bool attention = provider->op().starts_with("attention");
        const auto refuses = [&](Precision precision) {
            return provider->unsupported(small_case(provider->op(), precision), device).has_value();
        };
        EXPECT_EQ(refuses(Precision::fp32), attention);
        EXPECT_EQ(refuses(Precision::fp8), provider->op() != "attention_prefill");
        EXPECT_FALSE(refuses(Precision::bf16));
    }
}

}  // namespace
}  // namespace etalon
