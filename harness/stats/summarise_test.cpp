#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/error.h"
#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

Measurement measurement_of(std::vector<Sample> samples) {
    Measurement m;
    m.key.problem.op = "copy";
    m.key.provider = "etalon";
    m.samples = std::move(samples);
    return m;
}

TEST(Summarise, FillsEveryFigure) {
    std::vector<Sample> samples;
    for (int i = 0; i < 21; ++i) {
        const double clock = 1500 + 20 * i;
        samples.push_back({1e5 * 1980 / clock, clock});  // e = 1
    }
    Measurement m = measurement_of(samples);
    summarise(m, 1980, {0.5, 0.5}, 15);
    ASSERT_TRUE(m.time_ns && m.norm_time_ns && m.elasticity);
    EXPECT_EQ(m.clock_mhz, 1700);
    EXPECT_NEAR(m.time_ns->value, 1e5 * 1980 / 1700, 1e-6);
    EXPECT_NEAR(m.elasticity->value, 1, 0.001);
    EXPECT_NEAR(m.norm_time_ns->value, 1e5, 20);
    EXPECT_LT(m.norm_time_ns->hi - m.norm_time_ns->lo, 0.01 * m.norm_time_ns->value);
}

TEST(Summarise, KnowsNoElasticityWhereNoClockWasRead) {
    Measurement m = measurement_of(std::vector<Sample>(20, Sample{500, 0}));
    summarise(m, 0, {}, 15);
    EXPECT_EQ(m.clock_mhz, 0);
    EXPECT_FALSE(m.elasticity.has_value());
    EXPECT_EQ(m.norm_time_ns->value, 500);
    EXPECT_EQ(m.time_ns->value, 500);
}

TEST(Summarise, RefusesSamplesThatCannotBe) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const Sample bad : {Sample{nan, 1500}, Sample{inf, 1500}, Sample{0, 1500},
                             Sample{-3, 1500}, Sample{100, nan}, Sample{100, -1}}) {
        std::vector<Sample> samples(20, Sample{100, 1500});
        samples[7] = bad;
        Measurement m = measurement_of(samples);
        try {
            summarise(m, 1980, {}, 15);
            FAIL() << bad.duration_ns << " ns at " << bad.clock_mhz << " MHz was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::device_failure);
            EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
            EXPECT_NE(std::string(error.what()).find("sample 8 of 20"), std::string::npos);
        }
    }
}

TEST(Summarise, RefusesTooFewSamples) {
    Measurement m = measurement_of(std::vector<Sample>(14, Sample{100, 1500}));
    EXPECT_THROW(summarise(m, 1980, {}, 15), Error);
    EXPECT_NO_THROW(summarise(m, 1980, {}, 14));
    Measurement empty = measurement_of({});
    EXPECT_THROW(summarise(empty, 1980, {}, 0), Error);
}

}  // namespace
}  // namespace etalon::stats
