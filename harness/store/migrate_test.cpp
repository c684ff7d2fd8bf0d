// Later schemas than the present one are played by migrations of the test's own.

#include "harness/store/migrate.h"

#include <gmock/gmock.h>

#include "harness/store/embedded_migrations.h"
#include "harness/store/test_support.h"

namespace etalon::store {
namespace {

using namespace store_test;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int now = schema_version, next = now + 1, last = now + 2;
const std::string backup = fmt::format("results.db.v{}.bak", now);

std::string_view two_more(int version) {
    if (version == next) return "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'";
    if (version == last) return "UPDATE runs SET note = 'three'";
    return migration_sql(version);
}

std::string_view broken_last(int version) {
    if (version == last) return "UPDATE runs SET note = 'three'; DROP TABLE nothing";
    return two_more(version);
}

class Migrate : public testing::Test {
   protected:
    int version(const std::string& name) {
        SQLite::Database database(folder.path(name), SQLite::OPEN_READWRITE);
        return schema_of(database);
    }
    void migrate_to(int to, const MigrationSql& sql) {
        SQLite::Database database(path, SQLite::OPEN_READWRITE);
        migrate(database, path, to, sql);
    }
    TemporaryFolder folder;
    const std::string path = folder.path("results.db");
};

TEST_F(Migrate, ABlankFileGetsTheLatestSchemaAndNoBackup) {
    write_file(path, "");
    (void)Store::open(path, Store::Mode::create);
    EXPECT_EQ(version("results.db"), schema_version);
    EXPECT_THAT(folder.names(), ElementsAre("results.db"));
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.execAndGet("PRAGMA application_id").getInt(), application_id);
    EXPECT_EQ(database.execAndGet("PRAGMA journal_mode").getString(), "wal");
}

TEST_F(Migrate, EverySchemaInBetweenIsPassedBehindABackup) {
    make_store(path, 3);
    const std::string before = dump(path);
    migrate_to(last, two_more);
    EXPECT_EQ(version("results.db"), last);
    EXPECT_THAT(folder.names(), ElementsAre("results.db", backup));
    EXPECT_EQ(dump(folder.path(backup)), before) << "the backup is a sound file of the old schema";
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.execAndGet("SELECT note FROM runs").getString(), "three");
}

TEST_F(Migrate, TheBackupHoldsWhatIsOnlyInTheWal) {
    Store open = Store::open(path, Store::Mode::create);  // keeps the -wal from being folded in
    open.begin_run(environment(), run("run-a"), {});
    open.add("run-a", measurement(0));
    migrate_to(next, two_more);
    EXPECT_EQ(Store::open(folder.path(backup), Store::Mode::read).measurements("run-a").size(), 1u);
}

TEST_F(Migrate, AFailureChangesNothing) {
    make_store(path, 3);
    const std::string before = dump(path);
    EXPECT_THROW(migrate_to(last, broken_last), SQLite::Exception);
    EXPECT_EQ(version("results.db"), now);
    EXPECT_EQ(dump(path), before);
    migrate_to(last, two_more);  // over the backup of the first try
    EXPECT_EQ(dump(folder.path(backup)), before);
}

TEST_F(Migrate, WhatIsDoneIsNotDoneAgain) {
    make_store(path, 1);
    migrate_to(next, two_more);
    std::filesystem::remove(folder.path(backup));
    migrate_to(next, two_more);
    migrate_to(now, two_more);
    EXPECT_EQ(version("results.db"), next);
    EXPECT_THAT(folder.names(), ElementsAre("results.db"));
}

TEST_F(Migrate, NoMigrationWithoutItsBackup) {
    make_store(path, 1);
    // A folder of that name, with something in it, cannot be replaced.
    std::filesystem::create_directories(folder.path(backup + "/full"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { migrate_to(next, two_more); }), HasSubstr(backup));
    EXPECT_EQ(version("results.db"), now);
}

TEST_F(Migrate, ALaterSchemaIsRefused) {
    make_store(path, 1);
    execute(path, "PRAGMA user_version = 7");
    const std::string before = read_file(path);
    for (const auto mode : {Store::Mode::read, Store::Mode::write, Store::Mode::create}) {
        EXPECT_THAT(
            error_of(ExitCode::usage, [&] { (void)Store::open(path, mode); }),
            testing::AllOf(HasSubstr(path), HasSubstr("schema 7"), HasSubstr("update etalon")));
    }
    EXPECT_EQ(read_file(path), before);
}

// As the first release wrote it: what it measured stays, and had one speed.
TEST_F(Migrate, AFileOfSchema1IsTakenAlong) {
    make_store(path, 3);
    execute(path, "UPDATE measurements SET modes = NULL");
    const std::string before = dump(path);
    execute(path, "ALTER TABLE measurements DROP COLUMN modes; PRAGMA user_version = 1");
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)Store::open(path, Store::Mode::read); }),
                HasSubstr("etalon db migrate"));
    (void)Store::open(path, Store::Mode::write);
    EXPECT_EQ(version("results.db"), schema_version);
    EXPECT_EQ(dump(path), before);
    EXPECT_THAT(folder.names(), testing::Contains("results.db.v1.bak"));
    EXPECT_TRUE(Store::open(path, Store::Mode::read).verify().problems.empty());
}

}  // namespace
}  // namespace etalon::store
