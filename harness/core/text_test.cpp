#include "harness/core/text.h"

#include <gtest/gtest.h>

namespace etalon {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
}

TEST(Text, NearestFindsTypingSlipsOnly) {
    const std::vector<std::string> known = {"gemm", "softmax", "rmsnorm", "layernorm"};
    EXPECT_EQ(nearest("gmem", known), "gemm");
    EXPECT_EQ(nearest("sofmax", known), "softmax");
    EXPECT_EQ(nearest("rms_norm", known), "rmsnorm");
    EXPECT_EQ(nearest("attention", known), std::nullopt);
}

TEST(Text, UnknownNameListsWhatExists) {
    const std::vector<std::string> known = {"cold", "hot"};
    EXPECT_EQ(unknown_name("L2 mode", "codl", known),
              "unknown L2 mode 'codl'; did you mean 'cold'? (known: cold, hot)");
    EXPECT_EQ(unknown_name("L2 mode", "lukewarm", known),
              "unknown L2 mode 'lukewarm' (known: cold, hot)");
}

struct GlobCase {
    const char* pattern;
    const char* text;
    bool matches;
};

class Glob : public testing::TestWithParam<GlobCase> {};

TEST_P(Glob, Matches) {
    EXPECT_EQ(glob_match(GetParam().pattern, GetParam().text), GetParam().matches)
        << GetParam().pattern << " on " << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Glob,
    testing::Values(GlobCase{"", "", true}, GlobCase{"*", "", true}, GlobCase{"?", "", false},
                    GlobCase{"gemm/*/cold", "gemm/bf16/m=1,n=2,k=3/etalon/cold", true},
                    GlobCase{"gemm/*/hot", "gemm/bf16/m=1,n=2,k=3/etalon/cold", false},
                    GlobCase{"*m=1,*", "gemm/bf16/m=11,n=2/etalon/cold", false},
                    GlobCase{"a[bc]d", "acd", true}, GlobCase{"a[!bc]d", "acd", false},
                    GlobCase{"a[0-9]", "a7", true}, GlobCase{"a[", "a[", true},
                    GlobCase{"*a*b*c*", "xxaxxbxxc", true}, GlobCase{"a*b*c", "abcbd", false},
                    // Backtracking must not be exponential.
                    GlobCase{"*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                             false}));

TEST(Text, HumanUnits) {
    EXPECT_EQ(human_bytes(512), "512 B");
    EXPECT_EQ(human_bytes(1536), "1.5 KiB");
    EXPECT_EQ(human_time(123), "123 ns");
    EXPECT_EQ(human_time(12345.6), "12.35 µs");
    EXPECT_EQ(human_time(2.5e9), "2.5 s");
}

TEST(Text, UtcNowIsIso8601) {
    const std::string now = utc_now();
    ASSERT_EQ(now.size(), 24u);
    EXPECT_TRUE(glob_match("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:??:??.???Z", now)) << now;
}

}  // namespace
}  // namespace etalon
