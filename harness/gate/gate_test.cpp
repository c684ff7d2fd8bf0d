#include "harness/gate/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/gate/load.h"
#include "harness/gate/simulated_runs.h"
#include "harness/testing/scratch.h"

namespace etalon::gate {
namespace {

using testing::HasSubstr;

Comparison with(const std::vector<Verdict>& verdicts) {
    Comparison comparison;
    for (const Verdict verdict : verdicts) {
        Change change;
        change.verdict = verdict;
        if (verdict == Verdict::same || verdict == Verdict::slower || verdict == Verdict::faster) {
            change.ratio = Estimate{1, 1, 1};
        }
        comparison.changes.push_back(change);
    }
    return comparison;
}

TEST(Decide, TheGravestWins) {
    using enum Verdict;
    EXPECT_EQ(decide(with({same, faster, new_case}), true), ExitCode::ok);
    EXPECT_EQ(decide(with({same, faster, missing}), true), ExitCode::undecided);
    EXPECT_EQ(decide(with({same, ambiguous}), true), ExitCode::undecided);
    EXPECT_EQ(decide(with({same, ambiguous, failed}), true), ExitCode::device_failure);
    EXPECT_EQ(decide(with({same, ambiguous, failed, slower}), true), ExitCode::regression);
    EXPECT_EQ(decide(with({same, failed, incorrect}), true), ExitCode::regression);
    EXPECT_EQ(decide(with({new_case, new_case}), false), ExitCode::undecided);
    EXPECT_EQ(decide(with({new_case, incorrect}), false), ExitCode::regression);
    EXPECT_EQ(decide(with({new_case, missing}), true), ExitCode::undecided);
    EXPECT_EQ(decide(with({}), true), ExitCode::undecided);
}

// A store of simulated nights in a folder of its own.
class GateOnStore : public testing::Test {
   protected:
    GateOnStore()
        : machine_(41), store_(Store::open(folder_.path("etalon.db"), Store::Mode::create)) {}

    void add_night(int number, const SimulatedNight& night, int cases = 4,
                   const std::string& suite = "nightly", bool finished = true) {
        store_night(store_, machine_, number, {night, cases, suite, finished});
    }

    TemporaryFolder folder_;
    SimulatedMachine machine_;
    Store store_;
};

TEST_F(GateOnStore, SaysPlainlyThatThereIsNoBaseline) {
    add_night(0, {});
    const GateResult result = gate(store_, {});
    EXPECT_EQ(result.exit, ExitCode::undecided);
    EXPECT_THAT(result.headline, HasSubstr("no baseline"));
    EXPECT_EQ(result.headline.find('\n'), std::string::npos);
}

TEST_F(GateOnStore, PassesAQuietNightAndFailsASlowOne) {
    for (int night = 0; night < 4; ++night) add_night(night, {.clock_mhz = 1500 + 100.0 * night});
    const GateResult quiet = gate(store_, {});
    EXPECT_EQ(quiet.exit, ExitCode::ok) << quiet.headline;
    EXPECT_EQ(quiet.references.size(), 3u);
    add_night(4, {.factor = 1.05});
    const GateResult slow = gate(store_, {});
    EXPECT_EQ(slow.exit, ExitCode::regression);
    EXPECT_EQ(slow.comparison.count(Verdict::slower), 4);
    EXPECT_THAT(slow.headline, HasSubstr("4 slower"));
    // Another candidate, and another reference, by name.
    EXPECT_EQ(gate(store_, {.run = "run0002"}).exit, ExitCode::ok);
    GateOptions swapped;
    swapped.run = "run0003";
    swapped.against = Selection::parse("tag=night4");
    EXPECT_EQ(gate(store_, swapped).comparison.count(Verdict::faster), 4);
}

TEST_F(GateOnStore, TakesTheWindowOfRunsOfTheSameKind) {
    add_night(0, {}, 4, "quick");
    for (int night = 1; night < 6; ++night) add_night(night, {});
    add_night(6, {}, 4, "nightly", false);  // unfinished: no part of any reference
    add_night(7, {});
    GateOptions options;
    EXPECT_EQ(gate(store_, options).references.size(), 5u);
    options.window = 2;
    const GateResult result = gate(store_, options);
    ASSERT_EQ(result.references.size(), 2u);
    EXPECT_EQ(result.references[0].run_id, "run0004");
    EXPECT_EQ(result.references[1].run_id, "run0005");
}

TEST_F(GateOnStore, NamesTheNewDriverBesideTheRegression) {
    for (int night = 0; night < 5; ++night) add_night(night, {});
    add_night(5, {.factor = 1.04, .driver = "590.10"});
    const GateResult result = gate(store_, {});
    EXPECT_EQ(result.exit, ExitCode::regression);
    ASSERT_EQ(result.comparison.environment.size(), 1u);
    EXPECT_EQ(result.comparison.environment[0].text(), "driver 580.95 -> 590.10");
}

TEST_F(GateOnStore, RefusesWhatDoesNotExist) {
    const auto message_of = [](auto&& call, ExitCode code = ExitCode::usage) -> std::string {
        try {
            (void)call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code);
            return error.what();
        }
        return "nothing was thrown";
    };
    EXPECT_THAT(message_of([&] { return gate(store_, {}); }), HasSubstr("no run"));
    add_night(0, {}, 2, "nightly", false);
    EXPECT_THAT(message_of([&] { return gate(store_, {}); }, ExitCode::undecided),
                HasSubstr("--resume run0000"));
    add_night(1, {});
    EXPECT_THAT(message_of([&] { return gate(store_, {.run = "nope"}); }), HasSubstr("nope"));
    GateOptions options;
    options.against = Selection::parse("driver=570");
    EXPECT_THAT(message_of([&] { return gate(store_, options); }), HasSubstr("580.95"));
}

TEST_F(GateOnStore, LoadsSamplesOfEachRepeat) {
    add_night(0, {}, 1);
    SimulatedCase c = many_cases(1)[0];
    MeasurementRow again = machine_.row(c, {.samples = 20}, 0, 2.0);
    store_.add(again.run_id, again.m);
    const RunSet set = load_runs(store_, store_.runs());
    ASSERT_EQ(set.rows.size(), 2u);
    EXPECT_EQ(set.rows[0].m.samples.size(), 31u);
    EXPECT_EQ(set.rows[1].m.samples.size(), 20u);
    ASSERT_EQ(by_case(set).size(), 1u);
    EXPECT_EQ(by_case(set).begin()->second.points.size(), 1u);  // one run, one value
}

}  // namespace
}  // namespace etalon::gate
