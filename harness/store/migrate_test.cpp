// There is one schema so far; later ones are played by migrations of the test's own.

#include "harness/store/migrate.h"

#include <gmock/gmock.h>

#include "harness/store/embedded_migrations.h"
#include "harness/store/test_support.h"

namespace etalon::store {
namespace {

using namespace store_test;
using testing::ElementsAre;
using testing::HasSubstr;

std::string_view three_schemas(int version) {
    if (version == 2) return "ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'";
    if (version == 3) return "UPDATE runs SET note = 'three'";
    return migration_sql(version);
}

std::string_view broken_third(int version) {
    if (version == 3) return "UPDATE runs SET note = 'three'; DROP TABLE nothing";
    return three_schemas(version);
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
    migrate_to(3, three_schemas);
    EXPECT_EQ(version("results.db"), 3);
    EXPECT_THAT(folder.names(), ElementsAre("results.db", "results.db.v1.bak"));
    EXPECT_EQ(dump(path + ".v1.bak"), before) << "the backup is a sound file of the old schema";
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    EXPECT_EQ(database.execAndGet("SELECT note FROM runs").getString(), "three");
}

TEST_F(Migrate, TheBackupHoldsWhatIsOnlyInTheWal) {
    Store open = Store::open(path, Store::Mode::create);  // keeps the -wal from being folded in
    open.begin_run(environment(), run("run-a"), {});
    open.add("run-a", measurement(0));
    migrate_to(2, three_schemas);
    EXPECT_EQ(Store::open(path + ".v1.bak", Store::Mode::read).measurements("run-a").size(), 1u);
}

TEST_F(Migrate, AFailureChangesNothing) {
    make_store(path, 3);
    const std::string before = dump(path);
    EXPECT_THROW(migrate_to(3, broken_third), SQLite::Exception);
    EXPECT_EQ(version("results.db"), 1);
    EXPECT_EQ(dump(path), before);
    migrate_to(3, three_schemas);  // over the backup of the first try
    EXPECT_EQ(dump(path + ".v1.bak"), before);
}

TEST_F(Migrate, WhatIsDoneIsNotDoneAgain) {
    make_store(path, 1);
    migrate_to(2, three_schemas);
    std::filesystem::remove(path + ".v1.bak");
    migrate_to(2, three_schemas);
    migrate_to(1, three_schemas);
    EXPECT_EQ(version("results.db"), 2);
    EXPECT_THAT(folder.names(), ElementsAre("results.db"));
}

TEST_F(Migrate, NoMigrationWithoutItsBackup) {
    make_store(path, 1);
    // A folder of that name, with something in it, cannot be replaced.
    std::filesystem::create_directories(folder.path("results.db.v1.bak/full"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { migrate_to(2, three_schemas); }),
                HasSubstr("results.db.v1.bak"));
    EXPECT_EQ(version("results.db"), 1);
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

}  // namespace
}  // namespace etalon::store
