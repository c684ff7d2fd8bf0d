// The verdict on simulated devices, and the whole on the host.
#include "harness/measure/selftest.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "harness/testing/scratch.h"

namespace etalon::selftest {
namespace {

constexpr double reference_mhz = 1782;
constexpr stats::ElasticityPrior prior{0.5, 0.25};

// Blocks of a kernel of 100 µs with this elasticity; `bias` moves the times under load by something
// that is no clock.
std::vector<LoadBlock> simulate(double elasticity, double bias, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    std::vector<LoadBlock> blocks;
    for (int i = 0; i < 16; ++i) {
        LoadBlock block{i % 4 == 1 || i % 4 == 2, {}};
        for (int j = 0; j < 21; ++j) {
            const double clock = (block.heated ? 1450 : 1850) * (1 + 0.005 * normal(random));
            const double time = 100e3 * std::pow(reference_mhz / clock, elasticity) *
                                (block.heated ? 1 + bias : 1) * (1 + 0.002 * normal(random));
            block.samples.push_back({time, clock});
        }
        blocks.push_back(block);
    }
    return blocks;
}

TEST(Selftest, AClockIsTakenOut) {
    const std::uint64_t seed = fresh_seed();
    std::mt19937_64 random(seed);
    for (const double elasticity : {0.0, 0.5, 0.95}) {
        const Row row = judge(simulate(elasticity, 0, random), prior, reference_mhz);
        EXPECT_NEAR(row.elasticity.value, elasticity, 0.03) << seed;
        EXPECT_LT(row.norm_gap, 0.003) << seed;
        EXPECT_NEAR(row.raw_gap, std::pow(1850.0 / 1450, elasticity) - 1, 0.01) << seed;
        EXPECT_NEAR(row.hot_clock_mhz, 1450, 5);
        EXPECT_NEAR(row.cool_clock_mhz, 1850, 5);
        if (elasticity > 0) {
            EXPECT_LT(row.norm_cv, row.raw_cv / 10) << seed;
        }
    }
}

TEST(Selftest, WhatIsNoClockIsFound) {
    std::mt19937_64 random(fresh_seed());
    // What moves with the load alone looks like elasticity; what changes half-way does not.
    std::vector<LoadBlock> blocks = simulate(0.5, 0, random);
    for (std::size_t i = 8; i < blocks.size(); ++i) {
        if (!blocks[i].heated) continue;
        for (Sample& sample : blocks[i].samples) sample.duration_ns *= 1.02;
    }
    Row row = judge(blocks, prior, reference_mhz);
    row.allowed = allowed_gap(row.cool_ns, DeviceKind::cuda);
    EXPECT_NEAR(row.norm_gap, 0.02, 0.003);
    EXPECT_FALSE(row.trusted());
}

TEST(Selftest, ASlowdownIsSeenThroughTheClocks) {
    std::mt19937_64 random(fresh_seed());
    const std::vector<LoadBlock> shorter = simulate(0.95, 0, random);
    for (const double slowdown : {0.0, 0.01, 0.02}) {
        std::vector<LoadBlock> longer = simulate(0.95, 0, random);
        for (LoadBlock& block : longer) {
            for (Sample& sample : block.samples) sample.duration_ns *= 1 + slowdown;
        }
        Injection injection = judge_injection(shorter, longer, reference_mhz);
        injection.allowed = allowed_injection_error(DeviceKind::cuda);
        EXPECT_NEAR(injection.paired.value, slowdown, 0.001);
        EXPECT_LE(injection.paired.lo, injection.paired.value);
        EXPECT_NEAR(injection.across, slowdown, 0.002);
        EXPECT_NEAR(injection.raw_across, (1 + slowdown) * std::pow(1850.0 / 1450, 0.95) - 1, 0.01);
        EXPECT_EQ(injection.seen(), slowdown == 0.01);
    }
}

TEST(Selftest, AllowanceByTime) {
    EXPECT_EQ(allowed_gap(21e3, DeviceKind::cuda), 0.005);
    EXPECT_EQ(allowed_gap(19e3, DeviceKind::cuda), 0.01);
    EXPECT_EQ(allowed_gap(3e3, DeviceKind::cuda), 0.03);
    EXPECT_EQ(allowed_gap(21e3, DeviceKind::host), 0.05);
}

TEST(Selftest, BothHistoriesAreNeeded) {
    std::mt19937_64 random(1);
    std::vector<LoadBlock> blocks = simulate(0.5, 0, random);
    blocks.resize(2);
    EXPECT_THROW((void)judge(blocks, prior, reference_mhz), std::invalid_argument);
}

TEST(Selftest, SubjectsAreCasesOfThisBuild) {
    const Registry registry = builtin_registry();
    for (const Subject& subject : subjects(DeviceKind::host)) {
        EXPECT_EQ(registry.parse_case(subject.case_id, DeviceKind::host).id(), subject.case_id);
    }
}

}  // namespace
}  // namespace etalon::selftest
