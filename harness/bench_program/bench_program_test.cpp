// The program as its users run it: exit codes, one line for a fault, and the JSON that they read.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/core/text.h"

namespace etalon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Output {
    int exit = -1;
    std::string text;
    [[nodiscard]] std::vector<std::string> lines() const { return split(trim(text), '\n'); }
};

// `redirect` says what becomes of stderr.
Output run(const std::string& arguments, const char* redirect = "2>&1") {
    const std::string command =
        std::string(ETALON_BENCH_PROGRAM) + " " + arguments + " " + redirect;
    std::FILE* pipe = popen(command.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    Output output;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.text.append(buffer.data(), got);
    }
    const int status = pclose(pipe);
    if (WIFEXITED(status)) output.exit = WEXITSTATUS(status);
    return output;
}

const std::string small = "--device host --filter 'gemm/fp32/m=65,*' ";

TEST(BenchProgram, ListsCaseIds) {
    const Output all = run("--device host --benchmark_list_tests");
    EXPECT_EQ(all.exit, 0);
    EXPECT_GT(all.lines().size(), 20u);
    EXPECT_EQ(run("--device host --benchmark_list_tests=true").text, all.text);
    const Output some =
        run("--device host --benchmark_list_tests --benchmark_filter='etalon/hot$'");
    EXPECT_EQ(some.text, "copy/fp32/n=65536/etalon/hot\n");
    const Output others =
        run("--device host --benchmark_list_tests=true --benchmark_filter='-copy|gemm'");
    EXPECT_THAT(others.text, HasSubstr("softmax/"));
    EXPECT_THAT(others.text, Not(HasSubstr("copy/")));
}

TEST(BenchProgram, WritesGoogleBenchmarksJson) {
    const std::string path = ::testing::TempDir() + "bench_program_test.json";
    const Output output =
        run(small + "--launches 5 --benchmark_format=json --benchmark_context=night=7 " +
                "--benchmark_out_format=json --benchmark_out=" + path,
            "2>/dev/null");
    ASSERT_EQ(output.exit, 0) << output.text;
    const json shown = json::parse(output.text);
    const json written = json::parse(std::ifstream(path));
    EXPECT_EQ(shown.at("benchmarks"), written.at("benchmarks"));
    EXPECT_EQ(written.at("context").at("executable"), ETALON_BENCH_PROGRAM);
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

TEST(BenchProgram, TakesRepetitionsAndMinTime) {
    const Output output = run(small +
                                  "--provider etalon --benchmark_min_time=0.0001s "
                                  "--benchmark_repetitions=2 --benchmark_format=json",
                              "2>/dev/null");
    ASSERT_EQ(output.exit, 0) << output.text;
    const json rows = json::parse(output.text).at("benchmarks");
    ASSERT_EQ(rows.size(), 6u);  // two, and mean, median, stddev, cv
    EXPECT_EQ(rows.at(0).at("name"), rows.at(1).at("run_name"));
    EXPECT_EQ(rows.at(2).at("name"), rows.at(0).at("name").get<std::string>() + "_mean");
}

TEST(BenchProgram, RefusesInOneLine) {
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
        const Output output = run(arguments);
        EXPECT_EQ(output.exit, 2) << arguments;
        EXPECT_THAT(output.text, HasSubstr(expected));
        EXPECT_EQ(output.lines().size(), 1u) << output.text;
        EXPECT_TRUE(output.text.starts_with("etalon-bench: ")) << output.text;
    }
}

TEST(BenchProgram, HelpAndVersion) {
    const Output help = run("--help");
    EXPECT_EQ(help.exit, 0);
    for (const char* flag : {"--suite", "--benchmark_out", "ratio: baseline time"}) {
        EXPECT_THAT(help.text, HasSubstr(flag));
    }
    const Output version = run("--version");
    EXPECT_EQ(version.exit, 0);
    EXPECT_TRUE(version.text.starts_with("etalon-bench ")) << version.text;
}

}  // namespace
}  // namespace etalon
