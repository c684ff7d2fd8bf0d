// Needs a GPU; exits 77 (skipped, loudly) where there is none.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/timing.h"
#include "kernels/copy/copy.h"

namespace etalon::cuda {
namespace {

using ::testing::Each;

std::vector<double> durations(const Block& block) {
    std::vector<double> values;
    for (const Sample& sample : block.samples) values.push_back(sample.duration_ns);
    std::sort(values.begin(), values.end());
    return values;
}

TEST(EffectiveClock, IsCyclesPerTimeOfTheMedianSm) {
    const std::vector<kernels::ClockReading> before = {{100, 1000}, {100, 1000}, {100, 1000}, {}};
    const std::vector<kernels::ClockReading> after = {
        {1600, 2000}, {1700, 2000}, {9100, 2000}, {50, 60}};
    EXPECT_DOUBLE_EQ(effective_clock_mhz(before, after), 1600);
    EXPECT_EQ(effective_clock_mhz(before, before), 0);
}

TEST(CudaDevice, FillCompareAndPoison) {
    const auto device = open_gpu(0);
    const Layout layout{DType::f32, 37, 53, 64};
    const Buffer out = device->allocate(layout.bytes());
    const Buffer ref = device->allocate(37 * 53 * sizeof(double));
    device->fill(ref, {DType::f64, 37, 53, 53}, {}, 5);
    device->poison(out);
    const Comparison poisoned = device->compare(out, layout, ref);
    EXPECT_EQ(poisoned.non_finite, 37 * 53);
    EXPECT_EQ(poisoned.padding_written, 0);
    device->fill(out, layout, {.kind = Fill::Kind::constant, .a = 0}, 1);
    const Comparison zero = device->compare(out, layout, ref);
    EXPECT_DOUBLE_EQ(zero.rel_error, 1);
    EXPECT_EQ(zero.padding_written, 37 * 11);
}

TEST(CudaDevice, ASpinOf100MicrosecondsTakes100Microseconds) {
    const auto device = open_gpu(0);
    const auto launch = [](Stream stream, std::size_t) {
        check(kernels::spin(100'000, static_cast<cudaStream_t>(stream.handle)), "spin");
    };
    const Block block = device->time_block(launch, {.l2 = L2Mode::cold, .samples = 21});
    const std::vector<double> times = durations(block);
    EXPECT_NEAR(times[10], 103'000, 5'000);
    std::vector<double> clocks;
    for (const Sample& sample : block.samples) clocks.push_back(sample.clock_mhz);
    EXPECT_THAT(clocks, Each(::testing::AllOf(::testing::Gt(200), ::testing::Lt(4000))));
}

// CUPTI's span is the kernel's own; the events' window holds the launch as well.
TEST(CudaDevice, CuptiResolvesAKernelOfThreeMicroseconds) {
    const auto launch = [](Stream stream, std::size_t) {
        check(kernels::spin(3'000, static_cast<cudaStream_t>(stream.handle)), "spin");
    };
    const auto nothing = [](Stream stream, std::size_t) {
        check(kernels::spin(0, static_cast<cudaStream_t>(stream.handle)), "spin");
    };
    const auto device = open_gpu(0, Timer::cupti);
    EXPECT_EQ(device->timer(), "cupti");
    const BlockSpec spec{.l2 = L2Mode::hot, .samples = 101};
    const double spun = durations(device->time_block(launch, spec))[50];
    const double empty = durations(device->time_block(nothing, spec))[50];
    // %globaltimer, by which the kernel spins, steps by 32 ns.
    EXPECT_NEAR(spun - empty, 3'000, 90);
}

TEST(CudaDevice, EventsTimeALaunchOfNothingToo) {
    const auto device = open_gpu(0, Timer::events);
    EXPECT_EQ(device->timer(), "events");
    const auto nothing = [](Stream, std::size_t) {};
    EXPECT_GT(durations(device->time_block(nothing, {.l2 = L2Mode::hot, .samples = 21}))[10], 100);
}

TEST(CudaDevice, ALaunchThatLeavesNoKernelIsNoMeasurement) {
    const auto device = open_gpu(0, Timer::cupti);
    const auto nothing = [](Stream, std::size_t) {};
    EXPECT_THROW((void)device->time_block(nothing, {.samples = 3}), Error);
}

TEST(CudaDevice, LoadPullsTheClockDown) {
    const auto device = open_gpu(0);
    const auto launch = [](Stream stream, std::size_t) {
        check(kernels::spin(30'000, static_cast<cudaStream_t>(stream.handle)), "spin");
    };
    const auto clock = [&](bool heated) {
        const Block block = device->time_block(launch, {.samples = 21, .heated = heated});
        std::vector<double> clocks;
        for (const Sample& sample : block.samples) clocks.push_back(sample.clock_mhz);
        std::sort(clocks.begin(), clocks.end());
        return clocks[10];
    };
    const double at_rest = clock(false);
    device->heat(200);
    const double at_work = clock(true);
    std::printf("clock at rest %.0f MHz, under load %.0f MHz\n", at_rest, at_work);
    EXPECT_LT(at_work, 0.97 * at_rest);
}

TEST(CudaDevice, AColdCopyIsSlowerThanAHotOne) {
    const auto device = open_gpu(0);
    const std::size_t bytes = std::size_t{8} << 20;
    const Buffer from = device->allocate(bytes), to = device->allocate(bytes);
    const auto launch = [&](Stream stream, std::size_t) {
        check(
            kernels::copy(to.data(), from.data(), bytes, static_cast<cudaStream_t>(stream.handle)),
            "copy");
    };
    const auto cold = durations(device->time_block(launch, {.l2 = L2Mode::cold, .samples = 21}));
    const auto hot = durations(device->time_block(launch, {.l2 = L2Mode::hot, .samples = 21}));
    EXPECT_GT(cold[10], hot[10]);
}

TEST(CudaDevice, TheFloorIsMeasured) {
    const Device::TimerFloor events = open_gpu(0, Timer::events)->timer_floor();
    EXPECT_GT(events.floor_ns, 100);
    EXPECT_LT(events.floor_ns, 20'000);
    const Device::TimerFloor cupti = open_gpu(0, Timer::cupti)->timer_floor();
    EXPECT_EQ(cupti.floor_ns, 0);
    EXPECT_GT(cupti.quantum_ns, 0);
}

TEST(CudaDevice, TooMuchMemoryIsOutOfMemoryAndLeavesTheDeviceUsable) {
    const auto device = open_gpu(0);
    EXPECT_THROW((void)device->allocate(std::size_t{1} << 46), OutOfMemory);
    EXPECT_TRUE(device->usable());
    (void)device->allocate(1 << 20);
    device->synchronize();
}

}  // namespace
}  // namespace etalon::cuda
