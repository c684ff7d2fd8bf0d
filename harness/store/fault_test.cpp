// Every fault of the file that --db names: one line that names the file and says the mend, the
// right exit code, and the file left as it was.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <future>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Store::Mode all_modes[] = {Store::Mode::read, Store::Mode::write, Store::Mode::create};
constexpr Store::Mode old_files[] = {Store::Mode::read, Store::Mode::write};

class Fault : public testing::Test {
   protected:
    // That opening fails in each mode with `fault` and `mend`, and changes no byte.
    void expect_refused(const std::string& what, std::span<const Store::Mode> modes,
                        const std::string& fault, const std::string& mend) {
        std::error_code none;
        const bool is_file = std::filesystem::is_regular_file(what, none);
        const std::string before = is_file ? read_file(what) : "";
        const std::vector<std::string> names = folder.names();
        for (const Store::Mode mode : modes) {
            EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)Store::open(what, mode); }),
                        AllOf(HasSubstr("'" + what + "'"), HasSubstr(fault), HasSubstr(mend)));
        }
        EXPECT_EQ(is_file ? read_file(what) : "", before);
        EXPECT_EQ(folder.names(), names);
    }
    TemporaryFolder folder;
    const std::string path = folder.path("results.db");
};

TEST_F(Fault, Missing) {
    expect_refused(path, old_files, "there is no results file", "etalon sweep --db " + path);
    expect_refused(folder.path("no/results.db"), std::array{Store::Mode::create},
                   "cannot be opened", "check that its folder is there");
    write_file(path, "");
    expect_refused(path + "/below.db", std::array{Store::Mode::create}, "cannot be opened",
                   "check that its folder is there");
}

TEST_F(Fault, NoName) {
    expect_refused("", all_modes, "names no results file", "--db");
}

TEST_F(Fault, Empty) {
    write_file(path, "");
    expect_refused(path, old_files, "is empty", "etalon sweep --db " + path);
    (void)Store::open(path, Store::Mode::create);
    EXPECT_TRUE(Store::open(path, Store::Mode::read).runs().empty());
}

TEST_F(Fault, AFolder) {
    expect_refused(folder.path(""), all_modes, "is a folder", "--db takes a file");
}

TEST_F(Fault, NoRegularFile) {
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);  // one that would block who opens it
    expect_refused(path, all_modes, "no regular file", "--db");
}

TEST_F(Fault, NotSqlite) {
    for (const std::string& bytes : {std::string("x"), std::string(10000, 'x')}) {
        write_file(path, bytes);
        expect_refused(path, all_modes, "not SQLite", "choose another with --db");
    }
}

TEST_F(Fault, OfAnotherProgram) {
    SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE runs (a)");
    expect_refused(path, all_modes, "of another program", "choose another with --db");
}

TEST_F(Fault, TruncatedAnywhere) {
    make_store(path, 60);
    const std::string whole = read_file(path);
    for (const std::size_t size :
         {std::size_t{50}, std::size_t{100}, std::size_t{4096}, whole.size() - 1}) {
        write_file(path, whole.substr(0, size));
        expect_refused(path, all_modes, "is truncated", "restore it from a backup");
    }
}

TEST_F(Fault, CorruptPages) {
    make_store(path, 100);
    const std::string whole = read_file(path);
    int noticed_at_once = 0;
    for (std::size_t page = 4096; page < whole.size(); page += 4096) {
        std::string bytes = whole;
        for (std::size_t i = page; i < page + 4096; ++i) bytes[i] = static_cast<char>(~bytes[i]);
        write_file(path, bytes);
        try {
            const VerifyReport report = Store::open(path, Store::Mode::read).verify();
            EXPECT_THAT(report.problems, testing::Not(IsEmpty())) << "page " << page / 4096;
        } catch (const Error& error) {
            ++noticed_at_once;
            EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("restore it")));
        }
        try {
            (void)Store::open(path, Store::Mode::read).measurements("run-a");
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::usage);
            EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("is damaged"),
                                            HasSubstr("restore it from a backup")));
        }
        EXPECT_EQ(read_file(path), bytes);
    }
    // The schema itself.
    std::string bytes = whole;
    for (std::size_t i = 100; i < 4096; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    write_file(path, bytes);
    expect_refused(path, old_files, "is damaged", "restore it from a backup");
}

TEST_F(Fault, FlippedBitsInSamplesAreFound) {
    make_store(path, 3);
    std::string bytes = read_file(path);
    std::string blob;
    {
        SQLite::Database database(path, SQLite::OPEN_READONLY);
        blob = database.execAndGet("SELECT samples FROM measurements WHERE id = 2").getString();
    }
    const std::size_t at = bytes.find(blob);
    ASSERT_NE(at, std::string::npos);
    bytes[at + blob.size() / 2] ^= 1;
    write_file(path, bytes);
    EXPECT_THAT(Store::open(path, Store::Mode::read).verify().problems,
                ElementsAre(HasSubstr(case_id(1))));
    const Store store = Store::open(path, Store::Mode::read);
    const std::string line = error_of(
        ExitCode::usage, [&] { (void)store.samples(store.runs().front().run_id, case_id(1)); });
    EXPECT_THAT(line, HasSubstr("'" + path + "' cannot be read at run "));
    EXPECT_THAT(line, HasSubstr(case_id(1)));
    EXPECT_THAT(line, HasSubstr("restore a backup"));
}

TEST_F(Fault, ADamagedCaseIdNamesTheFile) {
    make_store(path, 2);
    {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec("UPDATE cases SET case_id = 'nonsense' WHERE id = 1");
    }
    const Store store = Store::open(path, Store::Mode::read);
    EXPECT_THAT(
        error_of(ExitCode::usage, [&] { (void)store.measurements(store.runs().front().run_id); }),
        AllOf(HasSubstr("'" + path + "' cannot be read at run "), HasSubstr("nonsense")));
}

TEST_F(Fault, TablesOfOursWithNoSchemaAreNoFileOfOurs) {
    make_store(path, 1);
    {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        database.exec("PRAGMA user_version = 0");
    }
    for (const Store::Mode mode : {Store::Mode::read, Store::Mode::write}) {
        EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)Store::open(path, mode); }),
                    HasSubstr("schema 0, which none has; restore it from a backup"));
    }
}

// The busy timeout is waited for in full: 5 s, once for all.
TEST_F(Fault, LockedByAnotherConnection) {
    make_store(path, 1);
    make_store(folder.path("shut.db"), 1);
    Store store = Store::open(path, Store::Mode::write);
    SQLite::Database writer(path, SQLite::OPEN_READWRITE);
    writer.exec("BEGIN IMMEDIATE");
    SQLite::Database owner(folder.path("shut.db"), SQLite::OPEN_READWRITE);
    owner.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM plan");
    const auto locked = [](const std::string& name, const auto& body) {
        EXPECT_THAT(error_of(ExitCode::usage, body),
                    AllOf(HasSubstr(name), HasSubstr("locked"), HasSubstr("wait for it to end")));
    };
    const std::string shut = folder.path("shut.db");
    auto adding = std::async(std::launch::async,
                             [&] { locked(path, [&] { store.add("run-a", measurement(1)); }); });
    auto reading = std::async(std::launch::async, [&] {
        locked(shut, [&] { (void)Store::open(shut, Store::Mode::read).runs(); });
    });
    auto writing = std::async(std::launch::async, [&] {
        locked(shut, [&] { (void)Store::open(shut, Store::Mode::write); });
    });
    adding.get();
    reading.get();
    writing.get();
    writer.exec("ROLLBACK");
    store.add("run-a", measurement(1));
    EXPECT_EQ(store.measurements("run-a").size(), 2u);
}

// Root may write what is read-only, so another user does it.
template <typename Body>
int as_nobody(Body&& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(77);
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Fault, ReadOnly) {
    make_store(path, 2);
    const std::string before = read_file(path);
    ASSERT_EQ(chmod(path.c_str(), 0444), 0);
    ASSERT_EQ(chmod(folder.at().c_str(), 0555), 0);
    const int status = as_nobody([&] {
        EXPECT_EQ(Store::open(path, Store::Mode::read).measurements("run-a").size(), 2u);
        for (const Store::Mode mode : {Store::Mode::write, Store::Mode::create}) {
            EXPECT_THAT(error_of(ExitCode::usage,
                                 [&] {
                                     Store store = Store::open(path, mode);
                                     store.add("run-a", measurement(5));
                                 }),
                        AllOf(HasSubstr(path), HasSubstr("read-only"), HasSubstr("writable")));
        }
        EXPECT_THAT(error_of(ExitCode::usage, [&] { SweepLock lock(path); }),
                    AllOf(HasSubstr(path), HasSubstr("writable")));
    });
    chmod(folder.at().c_str(), 0755);
    if (status == 77) GTEST_SKIP() << "SKIPPED: cannot become another user";
    EXPECT_EQ(status, 0);
    EXPECT_EQ(read_file(path), before);
}

TEST_F(Fault, Unreadable) {
    make_store(path, 1);
    ASSERT_EQ(chmod(path.c_str(), 0), 0);
    const int status = as_nobody(
        [&] { expect_refused(path, all_modes, "cannot be read", "check its permissions"); });
    if (status == 77) GTEST_SKIP() << "SKIPPED: cannot become another user";
    EXPECT_EQ(status, 0);
}

// Adds until the disk holds no more; how many were kept.
int fill(const std::string& path, std::string& line, ExitCode& code) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    for (int i = 0;; ++i) {
        try {
            store.add("run-a", measurement(i));
        } catch (const Error& error) {
            line = error.what();
            code = error.code();
            return i;
        }
    }
}

TEST_F(Fault, FullDisk) {
    const std::string disk = folder.path("disk");
    std::filesystem::create_directory(disk);
    if (mount("none", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
        GTEST_SKIP() << "SKIPPED: cannot mount a small disk here";
    }
    const std::string file = disk + "/results.db";
    std::string line;
    ExitCode code = ExitCode::ok;
    const int kept = fill(file, line, code);
    EXPECT_GT(kept, 10);
    EXPECT_EQ(code, ExitCode::device_failure);
    EXPECT_THAT(line, AllOf(HasSubstr(file), HasSubstr("is full"), HasSubstr("make room")));
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    {
        Store store = Store::open(file, Store::Mode::write);
        EXPECT_THAT(store.verify().problems, IsEmpty());
        EXPECT_EQ(store.measurements("run-a").size(), static_cast<std::size_t>(kept));
        store.add("run-a", measurement(kept));
    }
    EXPECT_EQ(umount(disk.c_str()), 0);
}

TEST_F(Fault, FileSizeLimit) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        (void)std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{300'000, 300'000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(77);
        std::string line;
        ExitCode code = ExitCode::ok;
        const int kept = fill(path, line, code);
        EXPECT_GT(kept, 10);
        EXPECT_EQ(code, ExitCode::device_failure);
        EXPECT_THAT(line, AllOf(HasSubstr(path), HasSubstr("check the disk")));
        EXPECT_EQ(line.find('\n'), std::string::npos);
        write_file(path + ".kept", std::to_string(kept));
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    Store store = Store::open(path, Store::Mode::write);
    EXPECT_THAT(store.verify().problems, IsEmpty());
    EXPECT_EQ(std::to_string(store.measurements("run-a").size()), read_file(path + ".kept"));
    store.add("run-a", measurement(1000));
}

TEST_F(Fault, TwoSweeps) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const SweepLock lock(path);
        (void)!write(ends[1], "+", 1);
        while (true) pause();
    }
    char ready = 0;
    ASSERT_EQ(read(ends[0], &ready, 1), 1);
    EXPECT_THAT(error_of(ExitCode::usage, [&] { SweepLock second(path); }),
                AllOf(HasSubstr(path), HasSubstr("process " + std::to_string(child)),
                      HasSubstr("wait for it")));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    SweepLock after(path);  // the kernel has released it
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace etalon
