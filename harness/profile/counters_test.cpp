#include "harness/profile/counters.h"

#include <gmock/gmock.h>

#include "harness/core/error.h"

namespace etalon::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ChooseMetrics, TakesWhatTheDeviceHasAndNoLookalike) {
    EXPECT_THAT(
        choose_metrics("gpu__time_duration      Counter  ns   time\n"
                       "sm__cycles_active       Counter  cycle\n"
                       "sm__cycles_elapsed      Counter  cycle\n"
                       "sm__warps_active_extra  Counter  warp\n"
                       "sm__inst_executed_pipe_tensor\n"),
        ElementsAre("gpu__time_duration.sum", "sm__cycles_active.avg", "sm__cycles_elapsed.avg",
                    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_elapsed"));
    EXPECT_THAT(choose_metrics(""), IsEmpty());
}

// Two kernels, the second three times as long: shares are weighted by time, bytes are summed.
TEST(ParseCounters, AddsUpTheKernelsOfALaunch) {
    const Counters counters = parse_counters(
        "==PROF== Connected to process 12\n"
        "run in the range\n"
        "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"sm__cycles_active.avg\","
        "\"sm__cycles_elapsed.avg\",\"dram__bytes.sum\","
        "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed\"\n"
        "\"\",\"\",\"ns\",\"cycle\",\"cycle\",\"byte\",\"%\"\n"
        "\"0\",\"first<int, 4>(a, \"\"b\"\")\",\"1,000\",\"90\",\"100\",\"1,048,576\",\"40\"\n"
        "\"1\",\"second\",\"3000\",\"50\",\"100\",\"24\",\"0\"\n");
    EXPECT_THAT(counters.kernels, ElementsAre("first<int, 4>(a, \"b\")", "second"));
    EXPECT_EQ(counters.duration_ns, 4000);
    EXPECT_DOUBLE_EQ(counters.sm_active.value(), 0.25 * 0.9 + 0.75 * 0.5);
    EXPECT_DOUBLE_EQ(counters.tensor_active.value(), 0.25 * 0.4);
    EXPECT_EQ(counters.dram_bytes.value(), 1048600);
    EXPECT_FALSE(counters.dram_share);
    EXPECT_FALSE(counters.occupancy);
}

TEST(ParseCounters, SaysWhyThereAreNone) {
    const auto said = [](std::string_view output) -> std::string {
        try {
            (void)parse_counters(output);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::device_failure);
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(said("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"),
                HasSubstr("counted no kernel: ERR_NVGPUCTRPERM"));
    EXPECT_THAT(said(""), HasSubstr("counted no kernel; without permission"));
    EXPECT_THAT(said("\"ID\",\"Kernel Name\"\n\"\",\"\"\n"), HasSubstr("counted no kernel"));
}

}  // namespace
}  // namespace etalon::profile
