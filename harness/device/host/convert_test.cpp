#include "harness/device/host/convert.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

namespace etalon::host {
namespace {

TEST(Convert, EveryF16RoundTrips) {
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        const float value = from_f16(static_cast<std::uint16_t>(bits));
        if (std::isnan(value)) continue;
        EXPECT_EQ(to_f16(value), bits);
    }
}

TEST(Convert, EveryE4m3RoundTrips) {
    for (std::uint32_t bits = 0; bits <= 0xFF; ++bits) {
        const float value = from_e4m3(static_cast<std::uint8_t>(bits));
        if (std::isnan(value)) continue;
        EXPECT_EQ(to_e4m3(value), bits);
    }
}

TEST(Convert, RoundsToNearestEven) {
    EXPECT_EQ(from_bf16(to_bf16(1.0F + 0x1p-8F)), 1.0F);                // tie, even below
    EXPECT_EQ(from_bf16(to_bf16(1.0F + 3 * 0x1p-8F)), 1.0F + 0x1p-6F);  // tie, even above
    EXPECT_EQ(from_f16(to_f16(1.0F + 0x1p-11F)), 1.0F);
    EXPECT_EQ(from_e4m3(to_e4m3(1.0625F)), 1.0F);
    EXPECT_EQ(from_e4m3(to_e4m3(1.1875F)), 1.25F);
}

TEST(Convert, Extremes) {
    EXPECT_EQ(from_f16(to_f16(65504.0F)), 65504.0F);
    EXPECT_TRUE(std::isinf(from_f16(to_f16(65520.0F))));
    EXPECT_EQ(from_f16(to_f16(0x1p-24F)), 0x1p-24F);  // smallest subnormal
    EXPECT_EQ(from_e4m3(to_e4m3(1e9F)), 448.0F);      // saturates
    EXPECT_EQ(from_e4m3(to_e4m3(0x1p-9F)), 0x1p-9F);
    EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Fill, NormalHasItsMomentsInEveryType) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::e4m3, DType::i8}) {
        const Layout layout{dtype, 100, 1000, 1000};
        std::vector<std::byte> data(layout.bytes());
        const double sigma = dtype == DType::i8 ? 32 : 1;
        fill(data.data(), layout, {.b = sigma}, 7);
        std::vector<double> values(100000);
        widen(dtype, data.data(), 100000, values.data());
        double sum = 0, sum_sq = 0;
        for (const double v : values) {
            sum += v;
            sum_sq += v * v;
        }
        // Four standard errors of the mean and of the variance.
        EXPECT_NEAR(sum / 1e5, 0, 4 * sigma / std::sqrt(1e5)) << name(dtype);
        EXPECT_NEAR(sum_sq / 1e5 / (sigma * sigma), 1, 4 * std::sqrt(2 / 1e5) + 0.002)
            << name(dtype);
    }
}

TEST(Fill, DependsOnTheSeedAndTheIndexAlone) {
    std::vector<float> a(101), b(1000), c(101);
    fill(a.data(), {DType::f32, 1, 101, 101}, {}, 1);
    fill(b.data(), {DType::f32, 1, 1000, 1000}, {}, 1);
    fill(c.data(), {DType::f32, 1, 101, 101}, {}, 2);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
    EXPECT_NE(a, c);
}

class Compare : public ::testing::Test {
   protected:
    // 3 × 4 with two padding columns that hold the poison.
    Layout layout_{DType::f32, 3, 4, 6};
    std::vector<float> out_ = std::vector<float>(18, std::nanf(""));
    std::vector<double> ref_ = std::vector<double>(12);
    void SetUp() override {
        std::fill_n(reinterpret_cast<std::uint8_t*>(out_.data()), 72, std::uint8_t{0xFF});
        for (int r = 0; r < 3; ++r) {
            for (int c = 0; c < 4; ++c) {
                ref_[r * 4 + c] = r + c + 1;
                out_[r * 6 + c] = static_cast<float>(r + c + 1);
            }
        }
    }
};

TEST_F(Compare, EqualIsZero) {
    const Comparison got = compare(out_.data(), layout_, ref_.data());
    EXPECT_EQ(got.rel_error, 0);
    EXPECT_EQ(got.max_error, 0);
    EXPECT_EQ(got.non_finite, 0);
    EXPECT_EQ(got.padding_written, 0);
}

TEST_F(Compare, OneWrongElement) {
    out_[6] += 1;
    double ref_sq = 0;
    for (const double v : ref_) ref_sq += v * v;
    const Comparison got = compare(out_.data(), layout_, ref_.data());
    EXPECT_DOUBLE_EQ(got.rel_error, 1 / std::sqrt(ref_sq));
    EXPECT_DOUBLE_EQ(got.max_error, 1 / std::sqrt(ref_sq / 12));
}

TEST_F(Compare, PoisonLeftAndPaddingWrittenAreSeen) {
    out_[8] = std::nanf("");
    out_[4] = 0;
    const Comparison got = compare(out_.data(), layout_, ref_.data());
    EXPECT_EQ(got.non_finite, 1);
    EXPECT_EQ(got.padding_written, 1);
}

}  // namespace
}  // namespace etalon::host
