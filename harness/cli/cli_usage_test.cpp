// Every fault of a command line or a suite file: one line on stderr that names the nearest, nothing
// on stdout, and the exit code.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matcher;
using ::testing::StartsWith;

using Arguments = std::vector<std::string>;

struct Refusal {
    const char* what;
    Arguments arguments;
    Matcher<std::string> line;
    int code = 2;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
    *out << refusal.what;
}

class Usage : public ::testing::TestWithParam<Refusal> {};

TEST_P(Usage, IsOneLineAndAnExitCode) {
    const TemporaryFolder folder;
    const Outcome outcome = etalon(folder, GetParam().arguments);
    EXPECT_EQ(outcome.code, GetParam().code) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("etalon: "));
    EXPECT_THAT(outcome.err, GetParam().line);
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_THAT(folder.names(), IsEmpty());
}

Matcher<std::string> suggests(const std::string& name) {
    return HasSubstr(fmt::format("did you mean '{}'?", name));
}

// A case of gemm on the CPU with these axes.
Arguments gemm(const std::string& axes, const std::string& rest = "etalon/hot") {
    return {"sweep", "--device", "host", "--case", fmt::format("gemm/fp32/{}/{}", axes, rest)};
}
Arguments sweep_with(const std::string& flag, const std::string& value) {
    return {"sweep", "--device", "host", "--op", "copy", flag, value};
}

INSTANTIATE_TEST_SUITE_P(
    Names, Usage,
    ::testing::Values(
        Refusal{"NoCommand", {}, HasSubstr("etalon --help")},
        Refusal{"Command", {"swep"}, suggests("sweep")},
        Refusal{"Flag", {"sweep", "--filtr", "x"}, suggests("--filter")},
        Refusal{"FlagWithValue", {"gate", "--windwo=3"}, suggests("--window")},
        Refusal{"FlagOfTheProgram", {"--versoin"}, suggests("--version")},
        Refusal{"Argument", {"sweep", "quick"}, HasSubstr("unexpected argument 'quick'")},
        Refusal{"ArgumentMissing", {"compare", "run=a"}, HasSubstr("B is required")},
        Refusal{"ValueMissing", {"sweep", "--tag"}, HasSubstr("--tag")},
        Refusal{"Suite", {"sweep", "--device", "host", "--suite", "quikc"}, suggests("quick")},
        Refusal{"SuiteFile", {"list", "--suite", "no/such.toml"}, HasSubstr("'no/such.toml'")},
        Refusal{"Op", {"list", "--op", "gemn"}, suggests("gemm")},
        Refusal{"Precision", {"list", "--op", "gemm", "--precision", "bf61"}, suggests("bf16")},
        Refusal{"Device", {"sweep", "--device", "hots"}, suggests("host")},
        Refusal{"DeviceNumber", {"sweep", "--device", "cuda:x"}, suggests("cuda:0")},
        Refusal{
            "Provider", {"list", "--device", "host", "--provider", "onedn"}, suggests("onednn")},
        Refusal{"Format", {"report", "--format", "pdf"}, HasSubstr("{md,json,csv,junit,html}")},
        Refusal{"Newline", {"list", "--op", "a\nb"}, HasSubstr("'a b'")},
        Refusal{"Filter", sweep_with("--filter", "re:(("), HasSubstr("regular expression")},
        Refusal{"NothingLeft",
                {"list", "--device", "host", "--filter", "none*"},
                HasSubstr("none of the")},
        Refusal{
            "SuiteAndCase", {"list", "--suite", "quick", "--case", "x"}, HasSubstr("not both")}),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    CaseIds, Usage,
    ::testing::Values(
        Refusal{"Shape", gemm("m=1,n=1,k=1", "etalon"), HasSubstr("is not a case id")},
        Refusal{"Axis", gemm("m=1,n=1,kk=1"), suggests("k")},
        Refusal{"AxisMissing", gemm("m=1,n=1"), HasSubstr("axis 'k' of op 'gemm' is missing")},
        Refusal{"AxisTwice", gemm("m=1,m=2,n=1,k=1"), HasSubstr("given twice")},
        Refusal{"Zero", gemm("m=0,n=1,k=1"), HasSubstr("axis m=0 of op 'gemm' is out of range")},
        Refusal{"Negative", gemm("m=-1,n=1,k=1"), HasSubstr("axis m=-1")},
        Refusal{"NoNumber", gemm("m=x,n=1,k=1"), HasSubstr("axis m='x' is not a whole")},
        Refusal{"Fraction", gemm("m=1.0,n=1,k=1"), HasSubstr("axis m='1.0' is not a whole")},
        Refusal{"Power", gemm("m=1e3,n=1,k=1"), HasSubstr("axis m='1e3' is not a whole")},
        Refusal{"BeyondTheAxis", gemm("m=1099511627776,n=1,k=1"), HasSubstr("1 to 16777216")},
        Refusal{"Beyond64Bits", gemm("m=99999999999999999999,n=1,k=1"), HasSubstr("64 bits")},
        Refusal{"Provider", gemm("m=1,n=1,k=1", "etaln/hot"), suggests("etalon")},
        Refusal{"Variant", gemm("m=1,n=1,k=1", "etalon+x/hot"), HasSubstr("no variants")},
        Refusal{"L2", gemm("m=1,n=1,k=1", "etalon/hott"), suggests("hot")}),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    Numbers, Usage,
    ::testing::Values(
        Refusal{"BudgetZero", sweep_with("--budget", "0"), HasSubstr("'0' is not a number from")},
        Refusal{"BudgetText", sweep_with("--budget", "1h"), HasSubstr("'1h' is not a number")},
        // A bound that is NaN bounds nothing, so a gate would pass whatever it is shown.
        Refusal{"BudgetNan", sweep_with("--budget", "nan"), HasSubstr("'nan' is not a number")},
        Refusal{"WidthNan", sweep_with("--half-width", "nan"), HasSubstr("'nan'")},
        Refusal{"EffectNan", {"gate", "--min-effect", "nan"}, HasSubstr("'nan'")},
        Refusal{"RateInfinite", {"gate", "--fdr", "inf"}, HasSubstr("'inf'")},
        Refusal{"Window", {"gate", "--window", "0"}, HasSubstr("whole number from 1 to 1000")},
        Refusal{"SamplesFraction", sweep_with("--min-samples", "7.5"), HasSubstr("'7.5'")},
        Refusal{"SamplesFew", sweep_with("--min-samples", "2"), HasSubstr("from 3")},
        Refusal{"SamplesCrossed", sweep_with("--max-samples", "10"),
                HasSubstr("--max-samples 10 is below --min-samples 15")},
        Refusal{"Seed", sweep_with("--seed", "-1"), HasSubstr("'-1'")},
        Refusal{"Limit", {"history", "x", "--limit", "-1"}, HasSubstr("'-1'")}),
    [](const auto& test) { return test.param.what; });

TEST(SuiteFile, AFaultNamesFileAndLine) {
    const TemporaryFolder folder;
    const std::string suite =
        folder.write("bad.toml", "[[grid]]\nop = \"copy\"\n\naxes = { n = [1024, \"many\"] }\n");
    const Outcome outcome = etalon(folder, {"sweep", "--device", "host", "--suite", suite});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err,
              fmt::format("etalon: {}:4: axis n must be a whole number, not text\n", suite));
    EXPECT_THAT(folder.names(), ::testing::ElementsAre("bad.toml"));
}

TEST(NoGpu, IsSaidInOneLineAndNothingIsTouched) {
    const TemporaryFolder folder;
    if (etalon(folder, {"devices"}).out.find("not usable") == std::string::npos) {
        GTEST_SKIP() << "a GPU is here";
    }
    const Outcome outcome = etalon(folder, {"sweep", "--device", "cuda:0"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(StartsWith("etalon: "), HasSubstr("--device host")));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1);
    EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace etalon::cli
