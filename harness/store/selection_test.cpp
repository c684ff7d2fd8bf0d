#include "harness/store/store.h"

#include <gmock/gmock.h>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::HasSubstr;

bool selects(const std::string& text) {
    auto r = run("run-a");
    r.tag = "base";
    r.environment_hash = environment().hash();
    return Selection::parse(text).matches(r, environment());
}

TEST(Selection, VersionsMatchWholeParts) {
    EXPECT_TRUE(selects("driver=580"));
    EXPECT_TRUE(selects("driver=580.159"));
    EXPECT_TRUE(selects("driver=580.159.04"));
    EXPECT_FALSE(selects("driver=580.15"));
    EXPECT_FALSE(selects("driver=58"));
    EXPECT_FALSE(selects("driver=580.159.04.1"));
    EXPECT_TRUE(selects("cudnn=9.14"));
    EXPECT_FALSE(selects("cudnn=9.1"));
}

TEST(Selection, GpuMatchesAnyPartOfItsNameInAnyCase) {
    EXPECT_TRUE(selects("gpu=h200"));
    EXPECT_TRUE(selects("gpu=NVIDIA H200"));
    EXPECT_FALSE(selects("gpu=B200"));
}

TEST(Selection, TheRestMatchesWhole) {
    EXPECT_TRUE(selects("tag=base"));
    EXPECT_FALSE(selects("tag=bas"));
    EXPECT_TRUE(selects("suite=nightly"));
    EXPECT_FALSE(selects("suite=quick"));
    EXPECT_TRUE(selects("device=cuda:0"));
    EXPECT_FALSE(selects("device=host"));
}

TEST(Selection, EveryFieldMustMatch) {
    EXPECT_TRUE(selects("gpu=H200,driver=580,cudnn=9"));
    EXPECT_TRUE(selects(" gpu = H200 , tag = base "));
    EXPECT_FALSE(selects("gpu=H200,driver=590"));
}

TEST(Selection, TimesTakeInTheWholeOfWhatTheyName) {
    // The run started at 2026-12-01T17:04:05.123Z.
    EXPECT_TRUE(selects("since=2026-12-01"));
    EXPECT_FALSE(selects("since=2026-12-02"));
    EXPECT_TRUE(selects("until=2026-12-01"));
    EXPECT_FALSE(selects("until=2026-11-30"));
    EXPECT_TRUE(selects("since=2026,until=2026"));
    EXPECT_TRUE(selects("since=2026-12-01T17:04:05Z,until=2026-12-01T17:04:05Z"));
    EXPECT_FALSE(selects("since=2026-12-01T17:04:06Z"));
    EXPECT_FALSE(selects("until=2026-12-01T17:04:04Z"));
}

TEST(Selection, OnlyFinishedRuns) {
    auto r = run("run-a");
    const Selection finished{.finished_only = true};
    EXPECT_FALSE(finished.matches(r, environment()));
    r.state = RunState::finished;
    EXPECT_TRUE(finished.matches(r, environment()));
}

TEST(Selection, TextIsItsOwnInverse) {
    for (const char* text : {"run=0a,tag=b,suite=quick", "driver=580.95,cudnn=9.14,gpu=H200",
                             "device=host,since=2026-12-01,until=2026-12-02"}) {
        EXPECT_EQ(Selection::parse(text).text(), text);
    }
    EXPECT_EQ(Selection{}.text(), "all runs");
}

TEST(Selection, BadTextsSayWhatIsKnown) {
    const auto refused = [](const char* text) {
        return error_of(ExitCode::usage, [&] { (void)Selection::parse(text); });
    };
    EXPECT_THAT(refused("diver=580"), HasSubstr("did you mean 'driver'"));
    EXPECT_THAT(refused("580.95"), HasSubstr("run, tag, suite, driver"));
    EXPECT_THAT(refused(""), HasSubstr("key=value"));
    EXPECT_THAT(refused("driver="), HasSubstr("needs a value"));
    EXPECT_THAT(refused("=580"), HasSubstr("unknown key"));
    EXPECT_THAT(refused("driver=1,driver=2"), HasSubstr("twice"));
    EXPECT_THAT(refused("since=yesterday"), HasSubstr("not a time"));
    EXPECT_THAT(refused("since=2026-1"), HasSubstr("not a time"));
    EXPECT_THAT(refused("until=2026-12-"), HasSubstr("not a time"));
}

TEST(Selection, ARunIsSelectedByAUniquePrefix) {
    TemporaryFolder folder;
    Store store = Store::open(folder.path("a.db"), Store::Mode::create);
    for (const char* id : {"abc1", "abc2"}) store.begin_run(environment(), run(id), {});
    const auto runs = store.runs(Selection::parse("run=abc2"));
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].run_id, "abc2");
    EXPECT_TRUE(store.runs(Selection::parse("run=abc2,tag=x")).empty());
}

}  // namespace
}  // namespace etalon
