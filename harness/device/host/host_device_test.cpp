#include "harness/device/host/host_device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "harness/device/host/host_clock.h"

namespace etalon::host {
namespace {

using ::testing::HasSubstr;

TEST(HostClock, IsThatOfARealCore) {
    std::vector<double> clocks;
    for (int i = 0; i < 21; ++i) clocks.push_back(effective_clock_mhz(100));
    std::nth_element(clocks.begin(), clocks.begin() + 10, clocks.end());
    EXPECT_GT(clocks[10], 500);
    EXPECT_LT(clocks[10], 7000);
}

TEST(HostDevice, TimesWhatItLaunches) {
    const auto device = make_host_device();
    const auto launch = [](Stream, std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    const Block block = device->time_block(launch, {.l2 = L2Mode::hot, .samples = 5});
    ASSERT_EQ(block.samples.size(), 5U);
    for (const Sample& sample : block.samples) {
        EXPECT_GE(sample.duration_ns, 2e6);
        EXPECT_GT(sample.clock_mhz, 0);
    }
}

TEST(HostDevice, ColdRotatesTheSetsAndHotUsesOneTwice) {
    const auto device = make_host_device();
    std::vector<std::size_t> sets;
    const auto launch = [&](Stream, std::size_t set) { sets.push_back(set); };
    (void)device->time_block(launch, {.l2 = L2Mode::cold, .samples = 4, .sets = 3});
    EXPECT_EQ(sets, (std::vector<std::size_t>{0, 1, 2, 0}));
    sets.clear();
    (void)device->time_block(launch, {.l2 = L2Mode::hot, .samples = 2, .sets = 3});
    EXPECT_EQ(sets, (std::vector<std::size_t>{0, 0, 0, 0}));
}

TEST(HostDevice, ColdSamplesAreColderThanHotOnes) {
    const auto device = make_host_device();
    const std::size_t bytes = std::min<std::size_t>(device->info().l2_bytes / 4, 1U << 22);
    if (bytes == 0) GTEST_SKIP() << "the cache's size is not readable";
    const Buffer data = device->allocate(bytes);
    device->fill(data,
                 {DType::i8, 1, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(bytes)},
                 {.b = 9}, 1);
    const auto launch = [&](Stream, std::size_t) {
        unsigned sum = 0;
        for (std::size_t i = 0; i < bytes; i += 64) sum += data.as<unsigned char>()[i];
        asm volatile("" : : "r"(sum));
    };
    const auto fastest = [&](L2Mode mode) {
        const Block block = device->time_block(launch, {.l2 = mode, .samples = 9});
        return std::min_element(
                   block.samples.begin(), block.samples.end(),
                   [](const Sample& a, const Sample& b) { return a.duration_ns < b.duration_ns; })
            ->duration_ns;
    };
    EXPECT_GT(fastest(L2Mode::cold), fastest(L2Mode::hot));
}

TEST(HostDevice, MoreThanTheMemoryIsRefusedInOneLine) {
    const auto device = make_host_device();
    try {
        (void)device->allocate(std::size_t{1} << 50);
        FAIL();
    } catch (const OutOfMemory& error) {
        EXPECT_THAT(error.what(), HasSubstr("choose a smaller problem"));
    }
}

TEST(HostDevice, TheFloorOfTheTimerIsFarBelowAMicrosecond) {
    const Device::TimerFloor floor = make_host_device()->timer_floor();
    EXPECT_GT(floor.quantum_ns, 0);
    EXPECT_LT(floor.floor_ns, 2000);
}

TEST(HostDevice, TheEnvironmentOfOneMachineIsOne) {
    EXPECT_EQ(make_host_device()->environment().hash(), make_host_device()->environment().hash());
}

}  // namespace
}  // namespace etalon::host
