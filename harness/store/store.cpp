#include "harness/store/store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>

#include "harness/store/store_impl.h"

namespace etalon {

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::open(const std::string& path, Mode mode) {
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    impl->database = store::open_database(path, mode);
    return Store(std::move(impl));
}

std::string migration_backup(const std::string& path, int version) {
    return fmt::format("{}.v{}.bak", path, version);
}

int Store::schema_of(const std::string& path) {
    return store::schema_of(path);
}

void Store::backup(const std::string& to_path) const {
    if (std::filesystem::exists(to_path)) {
        throw usage_error(fmt::format("'{}' is there already; choose another name", to_path));
    }
    // A reader's promise not to write would bar the copy.
    const auto promise = [&](bool kept) {
        impl_->database->exec(kept ? "PRAGMA query_only = ON" : "PRAGMA query_only = OFF");
    };
    const bool promised = impl_->database->execAndGet("PRAGMA query_only").getInt() != 0;
    std::optional<Error> fault;
    promise(false);
    try {
        store::vacuum_into(*impl_->database, to_path);
    } catch (const SQLite::Exception& error) {
        const int code = error.getErrorCode() & 0xFF;
        const bool source = code == SQLITE_CORRUPT || code == SQLITE_BUSY || code == SQLITE_LOCKED;
        fault = store::fault_of(source ? impl_->path : to_path, error);
    }
    promise(promised);
    if (fault) throw *fault;
}

SQLite::Statement& Store::Impl::statement(const char* sql) {
    std::unique_ptr<SQLite::Statement>& found = statements[sql];
    if (!found) found = std::make_unique<SQLite::Statement>(*database, sql);
    found->tryReset();
    found->clearBindings();
    return *found;
}

void Store::Impl::roll_back() noexcept {
    // After some faults SQLite has rolled back by itself.
    if (sqlite3_get_autocommit(database->getHandle()) == 0) database->tryExec("ROLLBACK");
    // Ids that were handed out in it are gone.
    text_ids.clear();
    case_ids.clear();
    run_keys.clear();
}

}  // namespace etalon
