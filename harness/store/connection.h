// An open results file: found sound, migrated, with the pragmas every connection has.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/store/store.h"

namespace etalon::store {

// Marks the file as ours ("ETLN").
inline constexpr int application_id = 0x45544C4E;

// One line that names the file and the mend, with the right exit code.
[[nodiscard]] Error fault_of(const std::string& path, const SQLite::Exception& error);

// Runs `function` and turns what SQLite throws into an Error about `path`.
template <typename Function>
decltype(auto) guarded(const std::string& path, Function&& function) {
    try {
        return std::forward<Function>(function)();
    } catch (const SQLite::Exception& error) {
        throw fault_of(path, error);
    }
}

// What cannot be read at `where` ("run R, CASE"): with the file and the mend.
[[nodiscard]] Error damage(const std::string& path, const std::string& where, const Error& error);

// Runs `function`, which reads a row; what it cannot make sense of is damage.
template <typename Function>
decltype(auto) sound(const std::string& path, const std::string& where, Function&& function) {
    try {
        return std::forward<Function>(function)();
    } catch (const Error& error) {
        throw damage(path, where, error);
    }
}

// As the file stands.
[[nodiscard]] int schema_of(const std::string& path);

// Absolute, without links: one file has one name, and none that SQLite reads as more than a name.
[[nodiscard]] std::string real_path(const std::string& path);

// One compact file with no -wal beside it. Not within a transaction.
void vacuum_into(SQLite::Database& database, const std::string& copy);

[[nodiscard]] std::unique_ptr<SQLite::Database> open_database(const std::string& path,
                                                              Store::Mode mode);

}  // namespace etalon::store
