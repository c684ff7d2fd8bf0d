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

void Store::backup(const std::string& to_path) const {
    if (std::filesystem::exists(to_path)) {
        throw usage_error(fmt::format("'{}' is there already; choose another name", to_path));
    }
    // VACUUM INTO leaves one compact file with no -wal beside it.
    impl_->read([&] {
        SQLite::Statement statement(*impl_->database, "VACUUM INTO ?");
        statement.bind(1, to_path);
        statement.exec();
    });
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
