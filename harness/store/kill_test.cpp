// kill -9 at any instant loses at most the case in flight.

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::IsEmpty;

constexpr int planned = 3000;

// Measures case after case, and reports each that is committed. Never returns.
[[noreturn]] void sweep(const std::string& path, int pipe_end) {
    try {
        Store store = Store::open(path, Store::Mode::create);
        std::vector<std::string> plan;
        for (int i = 0; i < planned; ++i) plan.push_back(case_id(i));
        store.begin_run(environment(), run("run-a"), plan);
        for (int i = 0; i < planned; ++i) {
            store.add("run-a", measurement(i));
            if (write(pipe_end, "+", 1) != 1) _exit(2);
        }
    } catch (const std::exception& error) {
        dprintf(STDERR_FILENO, "%s\n", error.what());
        _exit(1);
    }
    while (true) pause();
}

// How many measurements a sweep had reported when it was killed after `delay`.
int reported_by_killed_sweep(const std::string& path, std::chrono::microseconds delay) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        sweep(path, ends[1]);
    }
    close(ends[1]);
    std::this_thread::sleep_for(delay);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the sweep ended by itself";
    int reported = 0;
    char buffer[4096];
    for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
        reported += static_cast<int>(size);
    }
    close(ends[0]);
    return reported;
}

// Resumes the run and measures what is pending.
void finish(const std::string& path) {
    Store store = Store::open(path, Store::Mode::write);
    store.reopen_run("run-a");
    for (const std::string& id : store.pending("run-a")) {
        Measurement m = measurement(0);
        m.key = store::parse_stored_case(id);
        store.add("run-a", m);
    }
    store.end_run("run-a", RunState::finished, "2026-12-01T18:00:00.000Z");
}

TEST(Kill, AtAnyInstantLosesAtMostTheCaseInFlight) {
    std::mt19937_64 random(fresh_seed());
    std::uniform_int_distribution<int> microseconds(0, 120'000);
    int with_rows = 0;
    for (int round = 0; round < 50; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        const TemporaryFolder folder;
        const std::string path = folder.path("results.db");
        const int reported =
            reported_by_killed_sweep(path, std::chrono::microseconds(microseconds(random)));
        int kept = 0;
        try {
            const Store store = Store::open(path, Store::Mode::create);
            ASSERT_THAT(store.verify().problems, IsEmpty());
            if (store.runs().empty()) {
                ASSERT_EQ(reported, 0);
                continue;
            }
            ASSERT_EQ(store.plan("run-a").size(), static_cast<std::size_t>(planned));
            const auto rows = store.measurements("run-a");
            kept = static_cast<int>(rows.size());
            for (int i = 0; i < kept; ++i) {
                ASSERT_EQ(rows[static_cast<std::size_t>(i)].case_id, case_id(i));
            }
            ASSERT_EQ(store.pending("run-a").size(), static_cast<std::size_t>(planned - kept));
        } catch (const Error& error) {
            FAIL() << error.what();
        }
        ASSERT_GE(kept, reported) << "a reported measurement is lost";
        ASSERT_LE(kept, reported + 1);
        with_rows += kept > 0 ? 1 : 0;
        if (round % 10 == 0) {
            finish(path);
            const Store store = Store::open(path, Store::Mode::read);
            std::set<std::string> cases;
            for (const auto& row : store.measurements("run-a")) cases.insert(row.case_id);
            ASSERT_EQ(store.measurements("run-a").size(), static_cast<std::size_t>(planned));
            ASSERT_EQ(cases.size(), static_cast<std::size_t>(planned));
            ASSERT_THAT(store.pending("run-a"), IsEmpty());
            ASSERT_THAT(store.verify().problems, IsEmpty());
        }
    }
    EXPECT_GT(with_rows, 5) << "the machine is too slow for this test to mean something";
}

// A checkpoint writes the first page, with the new size of the file in it, before the last.
TEST(Kill, AmidACheckpointLeavesAFileThatOpens) {
    const TemporaryFolder folder;
    const std::string path = folder.path("results.db"), torn = folder.path("torn.db");
    {
        Store store = Store::open(path, Store::Mode::create);
        store.begin_run(environment(), run("run-a"), {});
        for (int i = 0; i < 200; ++i) store.add("run-a", measurement(i));
        write_file(torn + "-wal", read_file(path + "-wal"));
    }
    const std::string whole = read_file(path);
    ASSERT_GT(whole.size(), 20u * 4096);
    write_file(torn, whole.substr(0, std::size_t{5} * 4096));
    for (const Store::Mode mode : {Store::Mode::read, Store::Mode::write}) {
        const Store store = Store::open(torn, mode);
        EXPECT_EQ(store.measurements("run-a").size(), 200u);
        EXPECT_THAT(store.verify().problems, IsEmpty());
    }
}

}  // namespace
}  // namespace etalon
