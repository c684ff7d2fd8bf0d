// etalon-bench as a Google Benchmark program, on the CPU.

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/cli/child_process.h"

namespace etalon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class BenchTest : public testing::Test {
   protected:
    TemporaryFolder folder;
    // The program stands beside etalon.
    [[nodiscard]] Outcome bench(const std::string& arguments) const {
        return shell(folder, "\"$ETALON_PROGRAM\"-bench --device host " + arguments);
    }
};

constexpr const char* small =
    "--case copy/fp32/n=1001/etalon/hot --case copy/fp32/n=1001/libc/hot"
    " --case gemm/fp32/m=33,n=17,k=65/etalon/hot";

TEST_F(BenchTest, ListsCaseIdsWithoutMeasuring) {
    const Outcome outcome = bench("--suite quick --op copy --benchmark_list_tests");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("copy/fp32/n=65536/etalon/hot/manual_time\n"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("gemm/")));
    EXPECT_EQ(outcome.err, "");
}

TEST_F(BenchTest, WritesTheJsonOfGoogleBenchmarkWithCounters) {
    const Outcome outcome = bench(std::string(small) +
                                  " --benchmark_min_time=0.0005 --benchmark_format=json"
                                  " --benchmark_filter='copy/.*/etalon|gemm/.*'");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const nlohmann::json all = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(all["context"]["device"], "host");
    EXPECT_TRUE(all["context"].contains("environment_hash"));
    ASSERT_EQ(all["benchmarks"].size(), 2U);  // --benchmark_filter leaves libc out
    const nlohmann::json& copy = all["benchmarks"][0];
    EXPECT_EQ(copy["name"], "copy/fp32/n=1001/etalon/hot/manual_time");
    EXPECT_EQ(copy["time_unit"], "us");
    const double time_ns = copy["real_time"].get<double>() * 1000;
    EXPECT_GT(time_ns, 0);
    EXPECT_GT(copy["GB/s"].get<double>(), 0);
    EXPECT_GT(copy["ratio"].get<double>(), 0);
    EXPECT_FALSE(copy.contains("TFLOP/s"));
    EXPECT_GT(all["benchmarks"][1]["TFLOP/s"].get<double>(), 0);
}

TEST_F(BenchTest, SaysWhyACaseCannotRun) {
    const Outcome outcome =
        bench("--case copy/fp32/n=1000000000000/etalon/cold --benchmark_format=json");
    const nlohmann::json all = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(all["benchmarks"][0]["error_occurred"], true);
    EXPECT_THAT(all["benchmarks"][0]["error_message"].get<std::string>(),
                HasSubstr("choose smaller"));
}

TEST_F(BenchTest, RefusesWhatItDoesNotKnowInOneLine) {
    for (const char* arguments : {"--foo", "--benchmark_foo=1", "--suite quik", "--op gem"}) {
        const Outcome outcome = bench(arguments);
        EXPECT_EQ(outcome.code, 2) << arguments;
        EXPECT_THAT(outcome.err, StartsWith("etalon-bench: ")) << arguments;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
}

}  // namespace
}  // namespace etalon::cli
