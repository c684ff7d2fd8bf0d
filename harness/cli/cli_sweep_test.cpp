// The sweep as a program: what it leaves, how it is stopped and taken up again.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/gate/simulated_runs.h"
#include "harness/store/store.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SweepProgram : public ::testing::Test {
   protected:
    SweepProgram() {
        folder_.write(
            "mine.toml",
            "[[grid]]\ndevice = \"host\"\nop = \"copy\"\nl2 = \"hot\"\nprecision = \"fp32\"\n"
            "providers = [\"etalon\", \"libc\"]\n"
            "axes = { n = [1000, 2000, 3000, 4000, 5000, 6000] }\n");
    }
    [[nodiscard]] static std::vector<std::string> arguments(std::vector<std::string> more = {}) {
        std::vector<std::string> all = {"sweep", "--device", "host", "--suite", "./mine.toml"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] Store store() const {
        return Store::open(folder_.path("etalon.db"), Store::Mode::read);
    }
    // Waits until the sweep has told of a case.
    static void wait_for_a_case(Child& child) {
        while (child.err().find("[1/") == std::string::npos && !child.ended()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    TemporaryFolder folder_;
};

TEST_F(SweepProgram, ADryRunTouchesNothing) {
    const Outcome outcome = etalon(folder_, arguments({"--dry-run", "--filter", "*/libc/*"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::StartsWith("copy/fp32/n=1000/libc/hot\n"));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 6);
    EXPECT_THAT(folder_.names(), ElementsAre("mine.toml"));
    const auto json = nlohmann::json::parse(etalon(folder_, arguments({"--dry-run", "--json"})).out,
                                            nullptr, false);
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["cases"].size(), 12u);
}

TEST_F(SweepProgram, StoresWhatItTells) {
    const Outcome outcome = etalon(folder_, arguments({"--tag", "first"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("12 ok, 0 unsupported, 0 failed, 0 incorrect\n"));
    EXPECT_THAT(outcome.err, HasSubstr("[12/12] copy/fp32/n=6000/libc/hot  "));
    const std::vector<etalon::Run> runs = store().runs();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].state, RunState::finished);
    EXPECT_EQ(runs[0].suite, "mine");
    EXPECT_EQ(runs[0].tag, "first");
    EXPECT_EQ(store().ratios(runs[0].run_id).size(), 6u);
}

TEST_F(SweepProgram, WhatCannotFitInMemoryFailsWithItsReason) {
    const Outcome outcome =
        etalon(folder_, {"sweep", "--device", "host", "--case",
                         "softmax/fp32/rows=1073741824,cols=16777216/etalon/hot", "--case",
                         "copy/fp32/n=1000/libc/hot"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("failed: the tensors and their reference need"));
    EXPECT_THAT(outcome.out, HasSubstr("1 ok, 0 unsupported, 1 failed"));
}

TEST_F(SweepProgram, PrecisionWithAPercentSignIsTheHalfWidth) {
    const Outcome outcome =
        etalon(folder_, {"sweep", "--device", "host", "--case", "copy/fp32/n=1000/libc/hot",
                         "--precision", "90%", "--precision", "fp32"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(store().runs().at(0).options, HasSubstr("\"precision\":0.9"));
    const Outcome wrong = etalon(folder_, {"sweep", "--device", "host", "--precision", "wide%"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("'wide%' is not a share"));
}

TEST_F(SweepProgram, ASpentBudgetEndsWith3SaysWhatIsLeftAndResumes) {
    const Outcome outcome = etalon(folder_, arguments({"--budget", "0.001"}));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    const std::string run = store().runs().at(0).run_id;
    const std::size_t left = store().pending(run).size();
    EXPECT_GE(left, 9u);  // no more than the problem in flight was measured
    EXPECT_THAT(outcome.out, HasSubstr(fmt::format(", {} left (budget spent)\n", left)));
    EXPECT_THAT(outcome.out, HasSubstr(fmt::format("go on with: etalon sweep --resume {}", run)));
    const Outcome json =
        etalon(folder_, {"sweep", "--device", "host", "--resume", "--budget", "0.001", "--json"});
    EXPECT_EQ(nlohmann::json::parse(json.out).at("why_left"), "budget spent");

    const Outcome rest = etalon(folder_, {"sweep", "--device", "host", "--resume", run});
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(store().measurements(run).size(), 12u);
    EXPECT_THAT(store().pending(run), IsEmpty());
    const Outcome again = etalon(folder_, {"sweep", "--device", "host", "--resume", run});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("is finished"));
}

TEST_F(SweepProgram, CtrlCFinishesTheCaseInFlight) {
    // Forty seconds, were it not stopped: this test would have to stand still for as long to fail.
    std::string values = "1000";
    for (int n = 1001; n < 1400; ++n) values += fmt::format(", {}", n);
    folder_.write("long.toml",
                  "[[grid]]\nop = \"copy\"\nl2 = \"hot\"\nprecision = \"fp32\"\n"
                  "providers = [\"etalon\"]\naxes = { n = [" +
                      values + "] }\n");
    Child child(folder_, etalon_command({"sweep", "--device", "host", "--suite", "long.toml",
                                         "--half-width", "0.001", "--min-samples", "10000",
                                         "--max-samples", "100000", "--case-budget", "100"}));
    wait_for_a_case(child);
    child.send(SIGINT);
    const Outcome outcome = child.wait();
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    const etalon::Run run = store().runs().at(0);
    const std::size_t left = store().pending(run.run_id).size();
    EXPECT_GT(left, 0u);
    EXPECT_EQ(store().measurements(run.run_id).size(), 400 - left);
    EXPECT_EQ(run.state, RunState::interrupted);
    EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} left (interrupted)\n", left)));
    EXPECT_THAT(outcome.out, HasSubstr("go on with: etalon sweep --resume " + run.run_id));
}

TEST_F(SweepProgram, ResumeWithoutAnUnfinishedRunIsRefused) {
    EXPECT_EQ(etalon(folder_, arguments()).code, 0);
    const Outcome none = etalon(folder_, {"sweep", "--device", "host", "--resume"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("no unfinished run of host"));
    const Outcome unknown = etalon(folder_, {"sweep", "--device", "host", "--resume", "zzz"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("has no run 'zzz'"));
    const Outcome other =
        etalon(folder_, {"sweep", "--device", "host", "--resume", "--suite", "nightly"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("leave out --suite"));
}

TEST_F(SweepProgram, AFileOfAnotherEnvironmentIsNotResumed) {
    gate::SimulatedMachine machine(1);
    gate::StoredNight night;
    night.finished = false;
    {
        Store file = Store::open(folder_.path("etalon.db"), Store::Mode::create);
        gate::store_night(file, machine, 0, night);
    }
    const std::string run = store().runs().back().run_id;
    const Outcome outcome = etalon(folder_, {"sweep", "--device", "host", "--resume", run});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("give --device cuda:0"));
}

}  // namespace
}  // namespace etalon::cli
