// Takes a results file from its schema to a later one, after a backup.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <functional>
#include <string>
#include <string_view>

namespace etalon::store {

// SQL that takes a file from schema `version` − 1 to `version`.
using MigrationSql = std::function<std::string_view(int version)>;

[[nodiscard]] int schema_of(SQLite::Database& database);

// One transaction: it ends at schema `to`, or nothing has changed. A file that holds a schema
// already is copied to `PATH.v<N>.bak` first, under the same lock. Nothing happens where another
// process was faster.
void migrate(SQLite::Database& database, const std::string& path, int to, const MigrationSql& sql);

}  // namespace etalon::store
