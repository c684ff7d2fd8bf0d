#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_plan.h"
#include "kernels/gemm/gemm_select.h"
#include "kernels/testing/gpu_test.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

struct TypeCase {
    GemmType type;
    const char* name;
    ElementType input;
    ElementType output;
    double sigma;     // of the inputs
    double relative;  // bounds of Errors
    double maximum;
};

// A single output is rounded by up to half a unit in its last place (bf16 2^-8, fp16 2^-11); fp32
// sums 4000 products in turn; tf32 drops 13 bits of each input towards zero.
constexpr TypeCase kTypes[] = {
    {GemmType::bf16, "bf16", ElementType::bf16, ElementType::bf16, 1.0, 4.5e-3, 0.03},
    {GemmType::fp16, "fp16", ElementType::f16, ElementType::f16, 1.0, 5.5e-4, 4e-3},
    {GemmType::tf32, "tf32", ElementType::f32, ElementType::f32, 1.0, 2.2e-3, 0.02},
    {GemmType::fp32, "fp32", ElementType::f32, ElementType::f32, 1.0, 5e-6, 5e-5},
    {GemmType::fp8, "fp8", ElementType::e4m3, ElementType::bf16, 1.0, 5e-3, 0.04},
    {GemmType::int8, "int8", ElementType::i8, ElementType::i32, 40.0, 0.0, 0.0},
};

struct Size {
    std::int64_t m, n, k;
};

// Single elements, both sides of a tile and of a stage, long K (the ring goes round), thin ones.
constexpr Size kSizes[] = {
    {1, 1, 1},      {3, 5, 7},        {16, 8, 32},    {64, 64, 64},    {128, 128, 128},
    {128, 256, 64}, {129, 257, 65},   {127, 255, 63}, {300, 200, 136}, {1000, 1, 512},
    {1, 1000, 511}, {257, 129, 4000}, {65, 33, 2049}, {700, 900, 100},
};

// What is aligned: TMA wants A and B, the widest stores want C.
enum class Layout { aligned, unaligned_c, unaligned_a, unaligned };
constexpr Layout kLayouts[] = {Layout::aligned, Layout::unaligned_c, Layout::unaligned_a,
                               Layout::unaligned};

Place place(ElementType type, std::int64_t rows, std::int64_t cols, bool aligned) {
    if (aligned) return {rows, cols, aligned_ld(type, cols), 0};
    return {rows, cols, (cols + 2) | 1, 1};
}

int compute_capability() {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    return 10 * major + minor;
}

class Gemm : public ::testing::TestWithParam<TypeCase> {
   protected:
    struct Tensors {
        Tensor a, b, c;
        [[nodiscard]] GemmArgs args(GemmType type) const {
            return {type,           a.data(),       b.data(),     c.data(),     c.place().rows,
                    c.place().cols, a.place().cols, a.place().ld, b.place().ld, c.place().ld};
        }
    };
    Tensors tensors(const Size& size, Layout layout) {
        const bool a_aligned = layout == Layout::aligned || layout == Layout::unaligned_c;
        const bool b_aligned = layout != Layout::unaligned;
        const bool c_aligned = layout == Layout::aligned || layout == Layout::unaligned_a;
        const TypeCase& type = GetParam();
        return {Tensor(type.input, place(type.input, size.m, size.k, a_aligned),
                       normal_values(static_cast<std::size_t>(size.m * size.k), random_, 0.0,
                                     type.sigma)),
                Tensor(type.input, place(type.input, size.n, size.k, b_aligned),
                       normal_values(static_cast<std::size_t>(size.n * size.k), random_, 0.0,
                                     type.sigma)),
                Tensor(type.output, place(type.output, size.m, size.n, c_aligned))};
    }
    static std::vector<double> device_reference(const GemmArgs& args) {
        const auto count = static_cast<std::size_t>(args.m * args.n);
        const DeviceMemory memory(count * sizeof(double));
        check(gemm_reference(args, reinterpret_cast<double*>(memory.data()), nullptr));
        return download_doubles(memory, count);
    }
    static void expect_product(const Tensors& of_size, const GemmArgs& args) {
        const Errors found = errors(of_size.c.values(), device_reference(args));
        EXPECT_LE(found.relative, GetParam().relative);
        EXPECT_LE(found.maximum, GetParam().maximum);
        EXPECT_EQ(of_size.c.written_outside(), 0);
    }
    void expect_correct(const Size& size, Layout layout) {
        SCOPED_TRACE(std::to_string(size.m) + " x " + std::to_string(size.n) + " x " +
                     std::to_string(size.k) + ", layout " +
                     std::to_string(static_cast<int>(layout)));
        const Tensors of_size = tensors(size, layout);
        const GemmArgs args = of_size.args(GetParam().type);
        const GemmPlan plan(args);
        ASSERT_EQ(plan.unsupported(), nullptr) << plan.unsupported();
        SCOPED_TRACE(plan.kernel_name());
        check(plan.launch(nullptr));
        expect_product(of_size, args);
    }
    std::mt19937_64 random_{fresh_seed()};
};

TEST_P(Gemm, MatchesReferenceAtEverySizeAndAlignment) {
    for (const Size& size : kSizes) {
        for (const Layout layout : kLayouts) expect_correct(size, layout);
    }
}

// More tiles than multiprocessors, so a block goes on to a second tile; the wide tile and the
// narrow one, whole and cut.
TEST_P(Gemm, ManyTiles) {
    expect_correct({1400, 3001, 136}, Layout::aligned);
    expect_correct({2800, 3000, 264}, Layout::aligned);
    expect_correct({1800, 1900, 392}, Layout::aligned);
    expect_correct({1800, 1900, 200}, Layout::unaligned);
}

// Whatever the selection says, each kernel in each schedule computes the product, and again to the
// bit: few tokens and many, tiles that are cut, fewer stages of K than parts, more than the ring,
// several tiles to a block.
TEST_P(Gemm, EveryChoiceIsCorrectAndRepeats) {
    for (const Size& size : {Size{1, 200, 72}, Size{5, 1000, 1048}, Size{16, 129, 2600},
                             Size{31, 777, 4104}, Size{64, 1030, 3000}, Size{129, 300, 840},
                             Size{500, 1300, 1160}, Size{1300, 3000, 600}}) {
        const Tensors of_size = tensors(size, Layout::aligned);
        const GemmArgs args = of_size.args(GetParam().type);
        const std::vector<double> expected = device_reference(args);
        for (const GemmChoice& choice : gemm_choices(args, compute_capability())) {
            const GemmPlan plan(args, choice);
            SCOPED_TRACE(std::to_string(size.m) + " x " + std::to_string(size.n) + " x " +
                         std::to_string(size.k) + " " + plan.kernel_name() + " shared " +
                         std::to_string(choice.schedule.shared) + " split " +
                         std::to_string(choice.schedule.split) + " stages " +
                         std::to_string(choice.schedule.stages));
            ASSERT_EQ(plan.unsupported(), nullptr) << plan.unsupported();
            of_size.c.poison();
            check(plan.launch(nullptr));
            const std::vector<double> first = of_size.c.values();
            const Errors found = errors(first, expected);
            EXPECT_LE(found.relative, GetParam().relative);
            EXPECT_LE(found.maximum, GetParam().maximum);
            EXPECT_EQ(of_size.c.written_outside(), 0);
            of_size.c.poison();
            check(plan.launch(nullptr));
            EXPECT_EQ(of_size.c.values(), first);
            if (HasFailure()) return;
        }
    }
}

TEST_P(Gemm, HopperRunsTensorMapsWhereRowsAreAligned) {
    if (compute_capability() != 90 || GetParam().type == GemmType::fp32) GTEST_SKIP();
    const Size size{2816, 3072, 64};
    const std::string aligned =
        GemmPlan(tensors(size, Layout::aligned).args(GetParam().type)).kernel_name();
    EXPECT_EQ(aligned.rfind("sm90_wgmma_", 0), 0u) << aligned;
    const std::string unaligned =
        GemmPlan(tensors(size, Layout::unaligned_a).args(GetParam().type)).kernel_name();
    EXPECT_EQ(unaligned.rfind("mma_sync_", 0), 0u) << unaligned;
}

TEST_P(Gemm, AnEmptySumIsZeroAndAnEmptyResultIsNothing) {
    const Place c_place{5, 9, 12, 0};
    const Tensor c(GetParam().output, c_place);
    check(gemm({GetParam().type, nullptr, nullptr, c.data(), 5, 9, 0, 0, 0, 12}, nullptr));
    for (const double value : c.values()) EXPECT_EQ(value, 0.0);
    EXPECT_EQ(c.written_outside(), 0);
    EXPECT_EQ(gemm({GetParam().type, nullptr, nullptr, nullptr, 0, 9, 4, 4, 4, 9}, nullptr),
              cudaSuccess);
}

TEST_P(Gemm, ACopiedPlanLaunchesAgainAndAgain) {
    const Tensors of_size = tensors({200, 300, 160}, Layout::aligned);
    const GemmArgs args = of_size.args(GetParam().type);
    GemmPlan copied(tensors({1, 1, 1}, Layout::unaligned).args(GetParam().type));
    {
        const GemmPlan plan(args);
        copied = plan;
    }
    for (int i = 0; i < 3; ++i) check(copied.launch(nullptr));
    expect_product(of_size, args);
}

TEST_P(Gemm, PlanNamesTheKernelThatTheCapabilityGives) {
    const GemmArgs args = tensors({700, 300, 64}, Layout::aligned).args(GetParam().type);
    EXPECT_STREQ(GemmPlan(args).kernel_name(), gemm_kernel_name(args, compute_capability()));
}

TEST_P(Gemm, ReferenceMatchesTheCpu) {
    for (const Size& size : {Size{1, 1, 1}, Size{17, 15, 33}, Size{5, 70, 100}}) {
        const Tensors of_size = tensors(size, Layout::unaligned);
        const auto a = of_size.a.values();
        const auto b = of_size.b.values();
        std::vector<double> expected;
        for (std::int64_t row = 0; row < size.m; ++row) {
            for (std::int64_t col = 0; col < size.n; ++col) {
                double sum = 0;
                for (std::int64_t i = 0; i < size.k; ++i) {
                    sum += a[static_cast<std::size_t>(row * size.k + i)] *
                           b[static_cast<std::size_t>(col * size.k + i)];
                }
                expected.push_back(sum);
            }
        }
        const auto found = device_reference(of_size.args(GetParam().type));
        EXPECT_LE(errors(found, expected).relative, 1e-13);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, Gemm, ::testing::ValuesIn(kTypes),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace etalon::kernels
