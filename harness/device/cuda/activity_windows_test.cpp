// Cutting CUPTI's records into launches, on records written by hand.
#include <gmock/gmock.h>

#include "harness/core/error.h"
#include "harness/device/cuda/activity.h"

namespace etalon::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string probe = "_ZN6etalon7kernels18clock_probe_kernelEPNS0_12ClockReadingEj";

std::string refusal(const std::vector<Activity>& activities, std::size_t expected) {
    try {
        (void)cut_windows(activities, expected);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::device_failure);
        return error.what();
    }
    return "nothing was thrown";
}

TEST(CutWindows, ALaunchLastsFromItsFirstBeginToItsLastEnd) {
    // Flush and spin stand before the first probe; the records come in any order.
    const std::vector<Activity> activities = {
        {5000, 5002, probe},  {100, 900, "flush"}, {1000, 1002, probe},   {1100, 1400, "gemm"},
        {1500, 1800, "add"},  {2000, 2002, probe}, {3000, 3900, "flush"}, {4000, 4002, probe},
        {4100, 4500, "gemm"}, {4550, 4850, "add"}};
    const std::vector<ActivityWindow> windows = cut_windows(activities, 2);
    ASSERT_EQ(windows.size(), 2u);
    EXPECT_EQ(windows[0].span_ns, 700);
    EXPECT_EQ(windows[0].busy_ns, 600);
    EXPECT_THAT(windows[0].names, ElementsAre("gemm", "add"));
    EXPECT_EQ(windows[1].span_ns, 750);
}

TEST(CutWindows, OverlapIsBusyOnce) {
    const std::vector<ActivityWindow> windows = cut_windows(
        {{0, 1, probe}, {10, 50, "a"}, {20, 30, "b"}, {40, 90, "c"}, {100, 101, probe}}, 1);
    EXPECT_EQ(windows[0].span_ns, 80);
    EXPECT_EQ(windows[0].busy_ns, 80);
}

TEST(CutWindows, WhatDoesNotFitIsNoMeasurement) {
    EXPECT_THAT(refusal({{0, 1, probe}, {2, 3, "a"}}, 1), HasSubstr("1 clock probes were seen"));
    EXPECT_THAT(refusal({{0, 1, probe}, {5, 6, probe}}, 1), HasSubstr("launch 1 left no kernel"));
    EXPECT_THAT(refusal({{0, 1, probe},
                         {2, 3, "a"},
                         {4, 5, probe},
                         {6, 7, probe},
                         {8, 9, "b"},
                         {10, 11, probe}},
                        2),
                HasSubstr("launch 2 ran [b], the first one [a]"));
    EXPECT_THAT(refusal({{0, 1, probe}, {2, 2, "a"}, {4, 5, probe}}, 1), HasSubstr("no time"));
    EXPECT_THAT(refusal({{0, 1, probe}, {3, 2, "a"}, {4, 5, probe}}, 1),
                HasSubstr("ended before it began"));
    EXPECT_THAT(refusal({{0, 1, probe}, {2, 900, "a"}, {400, 405, probe}}, 1),
                HasSubstr("outside of its window"));
    EXPECT_THAT(refusal({}, 3), HasSubstr("--timer events"));
}

}  // namespace
}  // namespace etalon::cuda
