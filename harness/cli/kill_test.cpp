// A sweep killed at random moments loses at most the case in flight.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "harness/store/store.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using std::chrono::microseconds;
using ::testing::IsEmpty;

constexpr int kills = 50;
constexpr int cases = 1500;  // of a sweep: more than all kills together let through

// Cases that the sweep has told of, in order.
std::vector<std::string> told(const std::string& log) {
    static const std::regex line(R"(\[\d+/\d+\] (\S+)  [^\n]*\n)");
    std::vector<std::string> ids;
    for (auto at = std::sregex_iterator(log.begin(), log.end(), line); at != std::sregex_iterator();
         ++at) {
        ids.push_back((*at)[1]);
    }
    return ids;
}

class Kill : public ::testing::Test {
   protected:
    Kill() : random_(fresh_seed()) {
        std::string axes;
        for (int n = 1; n <= cases / 2; ++n) axes += fmt::format("{}, ", 64 * n);
        folder_.write(
            "small.toml",
            fmt::format(
                "[[grid]]\ndevice = \"host\"\nop = \"copy\"\nl2 = \"hot\"\nprecision = \"fp32\"\n"
                "providers = [\"etalon\", \"libc\"]\naxes = {{ n = [{}] }}\n",
                axes));
    }

    // At most this long, evenly spread.
    microseconds random_time(int most_us) {
        return microseconds(std::uniform_int_distribution<int>(0, most_us)(random_));
    }
    [[nodiscard]] Store store() const {
        return Store::open(folder_.path("etalon.db"), Store::Mode::read);
    }

    // Starts a sweep, kills it, and returns what it had told. Half of the kills come soon after the
    // start, wherever that meets it; half after the first case that it tells of.
    std::vector<std::string> killed(const std::vector<std::string>& arguments, bool soon) {
        Child child(folder_, etalon_command(arguments));
        if (!soon) {
            while (told(child.err()).empty() && !child.ended()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
        std::this_thread::sleep_for(random_time(soon ? 200'000 : 20'000));
        child.send(SIGKILL);
        const Outcome outcome = child.wait();
        EXPECT_TRUE(outcome.signal == SIGKILL || outcome.code == 0) << outcome.err;
        return told(outcome.err);
    }

    TemporaryFolder folder_;
    std::mt19937_64 random_;
};

// Ids of the cases of a run, each of which must be whole and there once.
std::set<std::string> stored_once(const Store& store, const std::string& run) {
    std::set<std::string> ids;
    for (const MeasurementRow& row : store.measurements(run)) {
        EXPECT_TRUE(ids.insert(row.case_id).second) << row.case_id << " is there twice";
        EXPECT_EQ(row.m.status, Status::ok) << row.m.reason;
        EXPECT_EQ(store.samples(run, row.case_id).size(),
                  static_cast<std::size_t>(row.sample_count));
    }
    return ids;
}

TEST_F(Kill, AtAnyMomentLosesAtMostTheCaseInFlight) {
    const std::vector<std::string> begin = {"sweep",        "--device",      "host", "--suite",
                                            "./small.toml", "--max-samples", "15"};
    const std::vector<std::string> resume = {"sweep", "--device", "host", "--resume"};
    std::set<std::string> before;
    std::size_t measured_under_fire = 0;
    std::string run;
    for (int i = 0; i < kills; ++i) {
        SCOPED_TRACE(fmt::format("kill {}", i));
        const std::vector<std::string> of_this = killed(run.empty() ? begin : resume, i % 2 == 0);
        if (!std::filesystem::exists(folder_.path("etalon.db")) ||
            std::filesystem::file_size(folder_.path("etalon.db")) == 0) {
            EXPECT_THAT(of_this, IsEmpty());
            continue;
        }
        // As the next sweep opens it: a kill may have come before the schema was there.
        const Store file = Store::open(folder_.path("etalon.db"), Store::Mode::create);
        EXPECT_THAT(file.verify().problems, IsEmpty());
        const std::vector<etalon::Run> runs = file.runs();
        ASSERT_LE(runs.size(), 1u);
        if (runs.empty()) {
            EXPECT_THAT(of_this, IsEmpty());
            continue;
        }
        run = runs[0].run_id;
        EXPECT_EQ(file.plan(run).size(), static_cast<std::size_t>(cases));
        const std::set<std::string> now = stored_once(file, run);
        // All that was there is there; all that was told is there; one more at most was stored and
        // not yet told of.
        EXPECT_TRUE(std::includes(now.begin(), now.end(), before.begin(), before.end()));
        for (const std::string& id : of_this) {
            EXPECT_TRUE(now.contains(id)) << id << " was told of and is lost";
            EXPECT_FALSE(before.contains(id)) << id << " was measured again";
        }
        EXPECT_LE(now.size(), before.size() + of_this.size() + 1);
        EXPECT_EQ(file.pending(run).size(), cases - now.size());
        measured_under_fire += now.size() - before.size();
        before = now;
        if (runs[0].state == RunState::finished) break;  // a machine too quick for `cases`
    }
    std::cout << measured_under_fire << " cases were measured under fire" << std::endl;
    EXPECT_GE(measured_under_fire, static_cast<std::size_t>(kills) / 2);

    ASSERT_FALSE(run.empty());
    if (store().run(run).state != RunState::finished) {
        const Outcome rest = etalon(folder_, resume);
        EXPECT_EQ(rest.code, 0) << rest.err;
        EXPECT_EQ(told(rest.err).size(), cases - before.size());
    }
    EXPECT_EQ(store().run(run).state, RunState::finished);
    EXPECT_EQ(stored_once(store(), run).size(), static_cast<std::size_t>(cases));
    EXPECT_THAT(store().pending(run), IsEmpty());
    EXPECT_EQ(store().ratios(run).size(), static_cast<std::size_t>(cases) / 2);
    EXPECT_THAT(store().verify().problems, IsEmpty());
}

TEST_F(Kill, WhileTheFileIsMadeLeavesOneThatTheNextSweepTakes) {
    for (int i = 0; i < 10; ++i) {
        SCOPED_TRACE(fmt::format("kill {}", i));
        const std::string name = fmt::format("fresh{}.db", i);
        const std::vector<std::string> begin = {
            "sweep", "--device", "host", "--case", "copy/fp32/n=1000/libc/hot", "--db", name};
        {
            Child child(folder_, etalon_command(begin));
            while (!std::filesystem::exists(folder_.path(name)) && !child.ended()) {
                std::this_thread::sleep_for(microseconds(50));
            }
            std::this_thread::sleep_for(random_time(3'000));
            child.send(SIGKILL);
            (void)child.wait();
        }
        const Outcome next = etalon(folder_, begin);
        EXPECT_EQ(next.code, 0) << next.err;
        EXPECT_THAT(Store::open(folder_.path(name), Store::Mode::read).verify().problems,
                    IsEmpty());
    }
}

}  // namespace
}  // namespace etalon::cli
