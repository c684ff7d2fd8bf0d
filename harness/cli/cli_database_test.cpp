// Every fault of a results file: one line on stderr, exit code 2, and the file as it was.

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/store/store.h"
#include "harness/testing/child_process.h"

namespace etalon::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::vector<std::string> new_sweep = {"sweep", "--device", "host", "--case",
                                            "copy/fp32/n=1000/libc/hot"};

class Database : public ::testing::Test {
   protected:
    // Every command that opens the file says so; a new sweep too, unless it would make the file.
    void expect_refused(const std::string& name, const std::string& why, bool sweep_too = true) {
        std::vector<std::vector<std::string>> all = {
            {"report"},
            {"gate"},
            {"history", "*"},
            {"history", "--runs", "--json"},
            {"compare", "run=a", "run=b"},
            {"sweep", "--device", "host", "--resume"},
        };
        if (sweep_too) all.push_back(new_sweep);
        const std::string before = read_file(folder_.path(name));
        for (std::vector<std::string>& arguments : all) {
            arguments.insert(arguments.end(), {"--db", name});
            const Outcome outcome = etalon(folder_, arguments);
            EXPECT_EQ(outcome.code, 2) << arguments[0] << outcome.err;
            EXPECT_THAT(outcome.out, IsEmpty()) << arguments[0];
            EXPECT_THAT(outcome.err, AllOf(StartsWith("etalon: '" + name + "'"), HasSubstr(why)))
                << arguments[0];
            EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
        }
        EXPECT_EQ(read_file(folder_.path(name)), before);
    }
    [[nodiscard]] std::string sound() const {
        return read_file(ETALON_SOURCE "/results/recorded/h200.db");
    }

    TemporaryFolder folder_;
};

TEST_F(Database, Missing) {
    for (const std::string command : {"report", "gate"}) {
        const Outcome outcome = etalon(folder_, {command, "--db", "none.db"});
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.err,
                  "etalon: there is no results file 'none.db'; `etalon sweep --db none.db` makes "
                  "one\n");
    }
    EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(Database, Empty) {
    folder_.write("empty.db", "");
    expect_refused("empty.db", "is empty", false);
}

TEST_F(Database, Truncated) {
    folder_.write("half.db", sound().substr(0, sound().size() / 2));
    expect_refused("half.db", "is truncated");
    folder_.write("head.db", sound().substr(0, 50));
    expect_refused("head.db", "is truncated");
}

TEST_F(Database, NotSqlite) {
    folder_.write("text.db", "run_id,started_at\n");
    expect_refused("text.db", "not SQLite");
}

TEST_F(Database, OfAnotherProgram) {
    SQLite::Database(folder_.path("other.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE notes (text)");
    expect_refused("other.db", "of another program");
}

TEST_F(Database, OfANewerSchema) {
    folder_.write("newer.db", sound());
    SQLite::Database(folder_.path("newer.db"), SQLite::OPEN_READWRITE)
        .exec(fmt::format("PRAGMA user_version = {}", schema_version + 1));
    expect_refused("newer.db", "update etalon");
}

TEST_F(Database, NoFile) {
    std::filesystem::create_directory(folder_.path("folder.db"));
    expect_refused("folder.db", "is a folder");
    std::filesystem::create_symlink("/dev/null", folder_.path("device.db"));
    expect_refused("device.db", "is no regular file");
}

TEST_F(Database, FolderMissing) {
    std::vector<std::string> sweep = new_sweep;
    sweep.insert(sweep.end(), {"--db", "no/such/folder.db"});
    const Outcome outcome = etalon(folder_, sweep);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no/such/folder.db"), HasSubstr("folder is there")));
    EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(Database, ASecondSweepIsToldWhoWrites) {
    const SweepLock lock(folder_.path("busy.db"));  // as a sweep holds it
    std::vector<std::string> sweep = new_sweep;
    sweep.insert(sweep.end(), {"--db", "busy.db"});
    const Outcome outcome = etalon(folder_, sweep);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err, fmt::format("etalon: another sweep (process {}) writes into 'busy.db'; "
                                       "wait for it, or choose another --db\n",
                                       getpid()));
    EXPECT_FALSE(std::filesystem::exists(folder_.path("busy.db")));
}

TEST_F(Database, OfTwoSweepsAtOnceOneIsRefusedAndTheOtherIsWhole) {
    // Each takes long enough to meet the other, unless one is over before the other has begun.
    std::vector<std::string> sweep = {"sweep",         "--device", "host",          "--suite",
                                      "quick",         "--op",     "softmax",       "--half-width",
                                      "0.001",         "--db",     "shared.db",     "--json",
                                      "--case-budget", "200",      "--max-samples", "1000"};
    Child first(folder_, etalon_command(sweep)), second(folder_, etalon_command(sweep));
    const Outcome one = first.wait(), other = second.wait();
    const Store store = Store::open(folder_.path("shared.db"), Store::Mode::read);
    EXPECT_THAT(store.verify().problems, IsEmpty());
    std::size_t whole = 0;
    for (const Outcome& outcome : {one, other}) {
        const bool refused = outcome.err.find("another sweep (process ") != std::string::npos;
        EXPECT_EQ(outcome.code, refused ? 2 : 0) << outcome.err;
        if (!refused) ++whole;
    }
    EXPECT_GE(whole, 1u);
    ASSERT_EQ(store.runs().size(), whole);
    for (const etalon::Run& run : store.runs()) {
        EXPECT_EQ(run.state, RunState::finished);
        EXPECT_THAT(store.pending(run.run_id), IsEmpty());
    }
}

}  // namespace
}  // namespace etalon::cli
