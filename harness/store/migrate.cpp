#include "harness/store/migrate.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/store/connection.h"

namespace etalon::store {
namespace {

// By a connection of its own: VACUUM does not run inside of the transaction that keeps others out.
void back_up(const std::string& path, int version) {
    const std::string copy = migration_backup(path, version);
    std::error_code ignored;
    std::filesystem::remove(copy, ignored);  // left by a migration that was cut short
    guarded(copy, [&] {
        SQLite::Database source(path, SQLite::OPEN_READWRITE);
        vacuum_into(source, copy);
    });
}

}  // namespace

int schema_of(SQLite::Database& database) {
    return database.execAndGet("PRAGMA user_version").getInt();
}

void migrate(SQLite::Database& database, const std::string& path, int to, const MigrationSql& sql) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const int from = schema_of(database);
    if (from >= to) return;
    if (from > 0) back_up(path, from);
    for (int version = from + 1; version <= to; ++version) database.exec(std::string(sql(version)));
    database.exec(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, to));
    transaction.commit();
}

}  // namespace etalon::store
