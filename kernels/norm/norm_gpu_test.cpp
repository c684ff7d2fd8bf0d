#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "kernels/norm/norm.h"
#include "kernels/testing/row_check.h"

namespace etalon::kernels {
namespace {

using namespace testing;  // NOLINT: the helpers of kernels/testing

// The two norms behind one pair of functions.
struct Norm {
    const char* name;
    bool bias;
    cudaError_t (*run)(const NormArgs&, cudaStream_t);
    cudaError_t (*reference)(const NormArgs&, double*, cudaStream_t);
};
constexpr Norm kRmsNorm{"rmsnorm", false, rmsnorm, rmsnorm_reference};
constexpr Norm kLayerNorm{"layernorm", true, layernorm, layernorm_reference};

std::vector<double> cpu_norm(const Norm& norm, const std::vector<double>& x,
                             const std::vector<double>& weight, const std::vector<double>& bias,
                             double epsilon) {
    const std::size_t cols = weight.size();
    std::vector<double> y(x.size());
    for (std::size_t start = 0; start < x.size(); start += cols) {
        double mean = 0;
        for (std::size_t i = 0; norm.bias && i < cols; ++i) mean += x[start + i];
        mean /= static_cast<double>(cols);
        double sum_sq = 0;
        for (std::size_t i = 0; i < cols; ++i) sum_sq += std::pow(x[start + i] - mean, 2);
        const double scale = 1 / std::sqrt(sum_sq / static_cast<double>(cols) + epsilon);
        for (std::size_t i = 0; i < cols; ++i) {
            y[start + i] = (x[start + i] - mean) * scale * weight[i] + (norm.bias ? bias[i] : 0.0);
        }
    }
    return y;
}

class NormKernel : public ::testing::TestWithParam<std::tuple<Norm, RowType>> {
   protected:
    [[nodiscard]] static Norm norm() { return std::get<0>(GetParam()); }
    [[nodiscard]] static RowType type() { return std::get<1>(GetParam()); }
    [[nodiscard]] static ElementType element() { return element_type(type()); }

    struct Tensors {
        Tensor x, weight, bias, y;
        [[nodiscard]] NormArgs args(RowType row_type) const {
            return {row_type,       x.data(),       weight.data(), bias.data(), y.data(),
                    x.place().rows, x.place().cols, x.place().ld,  y.place().ld};
        }
    };
    Tensors tensors(const RowCase& shape, double mean) {
        const auto count = static_cast<std::size_t>(shape.rows * shape.cols);
        const auto width = static_cast<std::size_t>(shape.cols);
        const Place vector{1, shape.cols, shape.cols, shape.aligned ? 0 : 1};
        return {Tensor(element(), shape.place(element(), false),
                       normal_values(count, random_, mean, 2.0)),
                Tensor(element(), vector, normal_values(width, random_, 1.0, 0.3)),
                Tensor(element(), vector, normal_values(width, random_, 0.0, 0.5)),
                Tensor(element(), shape.place(element(), true))};
    }
    static std::vector<double> device_reference(const NormArgs& args) {
        const auto count = static_cast<std::size_t>(args.rows * args.cols);
        const DeviceMemory memory(count * sizeof(double));
        check(norm().reference(args, reinterpret_cast<double*>(memory.data()), nullptr));
        return download_doubles(memory, count);
    }
    std::mt19937_64 random_{fresh_seed()};
};

TEST_P(NormKernel, MatchesReferenceAtEverySizeAndAlignment) {
    for (const RowCase& shape : row_cases()) {
        SCOPED_TRACE(shape.text());
        const Tensors of_shape = tensors(shape, 0.5);
        const NormArgs args = of_shape.args(type());
        check(norm().run(args, nullptr));
        const std::vector<double> reference = device_reference(args);
        if (norm().bias && shape.cols <= 2) {
            // Two close values: the difference from their mean is all rounding.
            expect_matches(of_shape.y, reference, std::max(row_tolerance(type()), 2e-3));
        } else {
            expect_matches(of_shape.y, reference, row_tolerance(type()));
        }
    }
}

TEST_P(NormKernel, ReferenceMatchesTheCpu) {
    for (const std::int64_t cols : {1, 3, 300, 1111}) {
        SCOPED_TRACE(cols);
        const Tensors of_shape = tensors({4, cols, false}, 0.5);
        const NormArgs args = of_shape.args(type());
        const std::vector<double> expected =
            cpu_norm(norm(), of_shape.x.values(), of_shape.weight.values(), of_shape.bias.values(),
                     static_cast<double>(args.epsilon));
        EXPECT_LE(errors(device_reference(args), expected).relative, 1e-12);
    }
}

TEST_P(NormKernel, ALargeMeanCostsNoDigits) {
    for (const std::int64_t cols : {96, 4096, 20000, 50000}) {
        SCOPED_TRACE(cols);
        const Tensors of_shape = tensors({3, cols, true}, 500.0);
        const NormArgs args = of_shape.args(type());
        check(norm().run(args, nullptr));
        // fp32: the mean itself is held to 3e-5 of the deviation.
        expect_matches(of_shape.y, device_reference(args), std::max(row_tolerance(type()), 1e-4));
    }
}

TEST_P(NormKernel, UnalignedWeightsTakeTheScalarPath) {
    const RowCase shape{3, 4096, true};
    Tensors of_shape = tensors(shape, 0.0);
    const Tensor weight(element(), {1, shape.cols, shape.cols, 1},
                        normal_values(static_cast<std::size_t>(shape.cols), random_));
    NormArgs args = of_shape.args(type());
    args.weight = weight.data();
    check(norm().run(args, nullptr));
    expect_matches(of_shape.y, device_reference(args), row_tolerance(type()));
}

TEST_P(NormKernel, AConstantRowGivesTheLimit) {
    const Place place{1, 2000, 2000, 0};
    const Tensor x(element(), place, std::vector<double>(2000, 3.0));
    const Tensor weight(element(), place, std::vector<double>(2000, 2.0));
    const Tensor bias(element(), place, std::vector<double>(2000, 0.25));
    const Tensor y(element(), place);
    check(norm().run({type(), x.data(), weight.data(), bias.data(), y.data(), 1, 2000, 2000, 2000},
                     nullptr));
    const double expected = norm().bias ? 0.25 : 2.0;
    for (const double value : y.values()) ASSERT_NEAR(value, expected, 0.01);
}

TEST_P(NormKernel, RefusesRowsThatOverlap) {
    float value = 0;
    EXPECT_EQ(norm().run({type(), &value, &value, &value, &value, 2, 8, 7, 8}, nullptr),
              cudaErrorInvalidValue);
    EXPECT_EQ(norm().run({type(), nullptr, nullptr, nullptr, nullptr, 0, 8, 8, 8}, nullptr),
              cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Types, NormKernel,
                         ::testing::Combine(::testing::Values(kRmsNorm, kLayerNorm),
                                            ::testing::Values(RowType::fp32, RowType::bf16,
                                                              RowType::fp16)),
                         [](const auto& instance) {
                             return std::string(std::get<0>(instance.param).name) + "_" +
                                    name_of(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace etalon::kernels
