// The exit codes of gate and compare, on nights with a known truth.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/gate/simulated_runs.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GateProgram : public ::testing::Test {
   protected:
    void add(int number, const gate::SimulatedNight& night = {}, Status first = Status::ok) {
        Store store = Store::open(folder_.path("etalon.db"), Store::Mode::create);
        gate::store_night(store, machine_, number, {.night = night, .first = first});
    }
    Outcome run(const std::vector<std::string>& arguments) { return etalon(folder_, arguments); }

    TemporaryFolder folder_;
    gate::SimulatedMachine machine_{41};
};

TEST_F(GateProgram, EndsWith3WithoutABaselineAnd0OnAQuietNight) {
    add(0);
    const Outcome alone = run({"gate"});
    EXPECT_EQ(alone.code, 3) << alone.out;
    EXPECT_THAT(alone.out, HasSubstr("no baseline"));
    for (int night = 1; night < 4; ++night) add(night);
    const Outcome quiet = run({"gate"});
    EXPECT_EQ(quiet.code, 0) << quiet.out;
    EXPECT_THAT(quiet.err, IsEmpty());
}

TEST_F(GateProgram, EndsWith1OnASlowerNightAndWritesItsComment) {
    for (int night = 0; night < 4; ++night) add(night);
    add(4, {.factor = 1.05, .driver = "590.10"});
    const Outcome slow = run({"gate", "--comment", "comment.md"});
    EXPECT_EQ(slow.code, 1) << slow.out;
    EXPECT_THAT(slow.out, HasSubstr("4 slower"));
    EXPECT_THAT(read_file(folder_.path("comment.md")), HasSubstr("590.10"));
    EXPECT_EQ(run({"gate", "--json"}).code, 1);
    EXPECT_EQ(run({"gate", "--run", "run0003"}).code, 0);
    EXPECT_EQ(run({"gate", "--min-effect", "20"}).code, 0);
    // The other way round it has become faster, which is fine.
    EXPECT_EQ(run({"gate", "--run", "run0003", "--against", "driver=590.10"}).code, 0);
}

TEST_F(GateProgram, EndsWith1OnAnIncorrectCaseAnd4OnAFailedOne) {
    for (int night = 0; night < 3; ++night) add(night);
    add(3, {}, Status::failed);
    EXPECT_EQ(run({"gate"}).code, 4);
    add(4, {}, Status::incorrect);
    EXPECT_EQ(run({"gate"}).code, 1);
}

TEST_F(GateProgram, TheFirstRecordedRunHasNoBaseline) {
    const std::string recorded = ETALON_SOURCE "/results/recorded/h200.db";
    const std::string first = Store::open(recorded, Store::Mode::read).runs().front().run_id;
    EXPECT_EQ(run({"gate", "--db", recorded, "--run", first}).code, 3);
}

TEST_F(GateProgram, CompareTellsAndDoesNotJudge) {
    add(0);
    add(1, {.factor = 1.05, .driver = "590.10"});
    const Outcome slower = run({"compare", "driver=580.95", "driver=590.10"});
    EXPECT_EQ(slower.code, 0) << slower.err;
    EXPECT_THAT(slower.out, HasSubstr("4 slower"));
    const Outcome none = run({"compare", "driver=580.95", "driver=570"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("590.10"));  // what there is
}

TEST_F(GateProgram, ARunIsNotSetAgainstItself) {
    add(0);
    add(1);
    const Outcome same = run({"compare", "suite=nightly", "since=2026"});
    EXPECT_EQ(same.code, 2) << same.out;
    EXPECT_THAT(same.err, HasSubstr("is on both sides"));
    const Outcome unsure = run({"compare", "run=run", "run=run0001"});
    EXPECT_EQ(unsure.code, 2) << unsure.out;
    EXPECT_THAT(unsure.err, HasSubstr("give more of it"));
}

TEST_F(GateProgram, HistoryNamesTheNearestCase) {
    add(0);
    const Outcome when = run({"history", "*", "--since", "yesterday"});
    EXPECT_EQ(when.code, 2);
    EXPECT_THAT(when.err, HasSubstr("'yesterday' is not a time"));
    const Outcome nearest = run({"history", "gemm/bf16/m=1/etalom/cold"});
    EXPECT_EQ(nearest.code, 2);
    EXPECT_THAT(nearest.err, HasSubstr("did you mean 'gemm/bf16/m=1/etalon/cold'?"));
    EXPECT_EQ(run({"history", "*"}).code, 0);
}

TEST_F(GateProgram, HistoryShowsTheChangeAndItsCause) {
    for (int night = 0; night < 6; ++night) add(night);
    for (int night = 6; night < 9; ++night) add(night, {.factor = 1.05, .driver = "590.10"});
    const Outcome one = run({"history", "gemm/bf16/m=1/etalon/cold"});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("slower"));
    EXPECT_THAT(one.out, HasSubstr("driver 580.95 -> 590.10"));
    const Outcome all = run({"history", "--all"});
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_THAT(all.out, HasSubstr("4 of 4 cases\n    driver 580.95 -> 590.10"));
    EXPECT_THAT(run({"history", "--all", "--json"}).out, HasSubstr("etalon.findings/1"));
    // A least effect over the change hides it.
    EXPECT_THAT(run({"history", "--all", "--min-effect", "20"}).out, HasSubstr("0 findings"));
}

TEST_F(GateProgram, HistoryRefusesWhatItCannotRead) {
    add(0);
    EXPECT_EQ(run({"history"}).code, 2);
    EXPECT_EQ(run({"history", "--all", "gemm/*"}).code, 2);
    EXPECT_EQ(run({"history", "--all", "--db", "missing.db"}).code, 2);
    folder_.write("broken.db", "this is not a results file, but long enough to be looked at");
    EXPECT_EQ(run({"history", "--all", "--db", "broken.db"}).code, 2);
    EXPECT_EQ(run({"gate", "--db", "broken.db"}).code, 2);  // never green
}

}  // namespace
}  // namespace etalon::cli
