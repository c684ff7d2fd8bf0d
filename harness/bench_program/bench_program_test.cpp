// The program as its users run it: exit codes, one line for a fault, and the JSON that they read.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/testing/child_process.h"

namespace etalon {
namespace {

using cli::Outcome;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class BenchProgram : public ::testing::Test {
   protected:
    TemporaryFolder folder;
    // The program stands beside etalon.
    [[nodiscard]] Outcome run(const std::string& arguments) const {
        return cli::shell(folder, "\"$ETALON_PROGRAM\"-bench " + arguments);
    }
};

std::ptrdiff_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

const std::string small = "--device host --filter 'gemm/fp32/m=65,*' ";

TEST_F(BenchProgram, ListsCaseIds) {
    const Outcome all = run("--device host --benchmark_list_tests");
    EXPECT_EQ(all.code, 0);
    EXPECT_GT(lines(all.out), 20);
    EXPECT_EQ(run("--device host --benchmark_list_tests=true").out, all.out);
    const Outcome some =
        run("--device host --benchmark_list_tests --benchmark_filter='etalon/hot$'");
    EXPECT_EQ(some.out, "copy/fp32/n=65536/etalon/hot\n");
    const Outcome others =
        run("--device host --benchmark_list_tests=true --benchmark_filter='-copy|gemm'");
    EXPECT_THAT(others.out, HasSubstr("softmax/"));
    EXPECT_THAT(others.out, Not(HasSubstr("copy/")));
}

TEST_F(BenchProgram, WritesGoogleBenchmarksJson) {
    const Outcome output =
        run(small + "--launches 5 --benchmark_format=json --benchmark_context=night=7 " +
            "--benchmark_out_format=json --benchmark_out=new.json");
    ASSERT_EQ(output.code, 0) << output.err;
    const json shown = json::parse(output.out);
    const json written = json::parse(read_file((folder.at() / "new.json").string()));
    EXPECT_EQ(shown.at("benchmarks"), written.at("benchmarks"));
    EXPECT_EQ(written.at("context").at("night"), "7");
    EXPECT_EQ(written.at("context").at("device"), "host");
    EXPECT_EQ(written.at("context").at("environment").get<std::string>().size(), 32u);
    for (const char* key : {"revision", "reference_clock_mhz", "floor_ns", "method", "suite"}) {
        EXPECT_TRUE(written.at("context").contains(key)) << key;
    }

    const json ours = written.at("benchmarks").at(0);
    EXPECT_EQ(ours.at("name"), "gemm/fp32/m=65,n=129,k=33,pad=3/etalon/cold");
    EXPECT_EQ(ours.at("run_name"), ours.at("name"));
    if (ours.contains("error_occurred")) GTEST_FAIL() << ours.at("error_message");
    EXPECT_EQ(ours.at("iterations"), 5);
    EXPECT_EQ(ours.at("time_unit"), "us");
    const double us = ours.at("real_time");
    EXPECT_GT(us, 0);
    EXPECT_NEAR(ours.at("TFLOP/s"), 2.0 * 65 * 129 * 33 / us / 1e6, 1e-3 / us);
    EXPECT_GT(ours.at("GB/s"), 0);
    EXPECT_GT(ours.at("clock_mhz"), 0);
}

TEST_F(BenchProgram, TakesRepetitionsAndMinTime) {
    const Outcome output = run(small +
                               "--provider etalon --benchmark_min_time=0.0001s "
                               "--benchmark_repetitions=2 --benchmark_format=json");
    ASSERT_EQ(output.code, 0) << output.err;
    const json rows = json::parse(output.out).at("benchmarks");
    ASSERT_EQ(rows.size(), 6u);  // two, and mean, median, stddev, cv
    EXPECT_EQ(rows.at(0).at("name"), rows.at(1).at("run_name"));
    EXPECT_EQ(rows.at(2).at("name"), rows.at(0).at("name").get<std::string>() + "_mean");
}

TEST_F(BenchProgram, SaysWhyACaseCannotRunAndExitsSo) {
    const Outcome outcome =
        run("--device host --case copy/fp32/n=1000000000000/etalon/cold --benchmark_format=json");
    EXPECT_EQ(outcome.code, 4);
    const json row = json::parse(outcome.out).at("benchmarks").at(0);
    EXPECT_EQ(row.at("error_occurred"), true);
    EXPECT_THAT(row.at("error_message").get<std::string>(), HasSubstr("choose smaller"));
}

TEST_F(BenchProgram, AFullDiskIsAFailure) {
    const Outcome outcome = run(small + "--provider etalon --launches 3 --benchmark_out=/dev/full");
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("cannot write '/dev/full'"));
}

TEST_F(BenchProgram, RefusesInOneLine) {
    const std::array<std::pair<const char*, const char*>, 9> bad = {{
        {"--bogus", "unknown flag '--bogus'"},
        {"--benchmark_fliter=x", "did you mean '--benchmark_filter'?"},
        {"--benchmark_format=xml", "--benchmark_format: xml not in {console,json,csv}"},
        {"--benchmark_min_time=soon", "--benchmark_min_time: Value soon"},
        {"--benchmark_filter='('", "is not a regular expression"},
        {"--device host --benchmark_filter=zzz", "leaves none of"},
        {"--benchmark_out=/nowhere/x --device host", "'/nowhere/x' cannot be written"},
        {"--suite quik", "unknown suite 'quik'; did you mean 'quick'?"},
        {"--device hots", "unknown device 'hots'; did you mean 'host'?"},
    }};
    for (const auto& [arguments, expected] : bad) {
        const Outcome output = run(arguments);
        EXPECT_EQ(output.code, 2) << arguments;
        EXPECT_THAT(output.err, HasSubstr(expected));
        EXPECT_EQ(lines(output.err), 1) << output.err;
        EXPECT_THAT(output.err, StartsWith("etalon-bench: "));
    }
}

TEST_F(BenchProgram, HelpAndVersion) {
    const Outcome help = run("--help");
    EXPECT_EQ(help.code, 0);
    for (const char* flag : {"--suite", "--benchmark_out", "ratio: baseline time"}) {
        EXPECT_THAT(help.out, HasSubstr(flag));
    }
    const Outcome version = run("--version");
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, StartsWith("etalon-bench "));
}

}  // namespace
}  // namespace etalon
