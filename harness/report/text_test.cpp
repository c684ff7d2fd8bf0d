#include "harness/report/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <locale>

#include "harness/report/sparkline.h"

namespace etalon::report {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Text, FourSignificantDigitsWithoutExponent) {
    EXPECT_EQ(significant(12.3456), "12.35");
    EXPECT_EQ(significant(1), "1.000");
    EXPECT_EQ(significant(9999.6), "10000");
    EXPECT_EQ(significant(123456), "123500");
    EXPECT_EQ(significant(0.00012345), "0.0001234");
    EXPECT_EQ(significant(-2.5), "-2.500");
    EXPECT_EQ(significant(0), "0");
    EXPECT_EQ(significant(NAN), "-");
    EXPECT_EQ(significant(-inf), "-");
    EXPECT_EQ(significant(0.0123, 2), "0.012");
}

TEST(Text, RatiosRatesAndUnits) {
    EXPECT_EQ(time_text(18000), "18.00 µs");
    EXPECT_EQ(time_text(999.96), "1.000 µs");
    EXPECT_EQ(time_text(32), "32.00 ns");
    EXPECT_EQ(time_text(2.5e9), "2.500 s");
    EXPECT_EQ(time_text(0), "-");
    EXPECT_EQ(time_text(NAN), "-");
    EXPECT_EQ(percent_change(1.0312), "+3.12 %");
    EXPECT_EQ(percent_change(0.9), "-10.0 %");
    EXPECT_EQ(percent_change(Estimate{1.0312, 1.025, 1.0374}), "+3.12 % (+2.50 to +3.74)");
    EXPECT_EQ(ratio_text({1.0234, 1.0171, 1.0289}), "1.023 (1.017 to 1.029)");
    EXPECT_EQ(tflops_text(2.0 * 2048 * 2048 * 2048, 26.6e3), "645.9 TFLOP/s");
    EXPECT_EQ(gbs_text(2.0 * 64 * 1024 * 1024, 37.12e3), "3616 GB/s");
    EXPECT_EQ(tflops_text(0, 100), "-");
    EXPECT_EQ(gbs_text(100, 0), "-");
    EXPECT_EQ(minute("2026-12-01T17:04:05.123Z"), "2026-12-01 17:04");
    EXPECT_EQ(cell("a|b\nc"), "a\\|b c");
    EXPECT_EQ(cell(""), "-");
}

TEST(Text, IsTheSameUnderAForeignLocale) {
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale(), new Comma));
    EXPECT_EQ(significant(1234.5678, 6), "1234.57");
    EXPECT_EQ(percent_change(1.5), "+50.0 %");
    EXPECT_EQ(dump({{"x", number(1234567.5)}}), "{\n  \"x\": 1234567.5\n}");
    std::locale::global(before);
}

TEST(Json, HasNoNumberThatJsonHasNot) {
    EXPECT_TRUE(number(NAN).is_null());
    EXPECT_TRUE(number(inf).is_null());
    EXPECT_TRUE(number(std::optional<double>()).is_null());
    EXPECT_TRUE(interval(std::nullopt).is_null());
    EXPECT_EQ(interval(Estimate{1, -inf, 2}).dump(), R"({"hi":2.0,"lo":null,"value":1.0})");
    EXPECT_NO_THROW((void)dump({{"reason", "\xff\xfe"}}));
}

std::string drawn(const std::vector<std::optional<double>>& values) {
    return sparkline(values);
}

TEST(Sparkline, DrawsFromLeastToGreatest) {
    EXPECT_EQ(drawn({1, 2, 3, 4, 5, 6, 7, 8}), "▁▂▃▄▅▆▇█");
    EXPECT_EQ(drawn({8, 1}), "█▁");
}

TEST(Sparkline, ShowsGaps) {
    EXPECT_EQ(drawn({1, std::nullopt, 8, NAN, inf}), "▁·█··");
    EXPECT_EQ(drawn({std::nullopt}), "·");
    EXPECT_EQ(drawn({}), "");
}

TEST(Sparkline, KeepsNoiseFlatAndExtremesFinite) {
    EXPECT_EQ(drawn({100, 100, 100}), "▅▅▅");
    EXPECT_EQ(drawn({0, 0}), "▅▅");
    EXPECT_EQ(drawn({100, 100.1, 100}), "▄▅▄");  // a tenth of a percent
    EXPECT_EQ(drawn({-1.7e308, 1.7e308}), "▁█");
}

}  // namespace
}  // namespace etalon::report
