#include "harness/store/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "harness/core/text.h"
#include "harness/store/embedded_migrations.h"
#include "harness/store/migrate.h"

namespace etalon::store {
namespace {

namespace fs = std::filesystem;

constexpr int busy_timeout_ms = 5000;

std::uint32_t big_endian(const unsigned char* bytes, int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8U | bytes[i];
    return value;
}

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

// SQLite keeps it beside the file that a link points to.
bool has_wal(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(real_path(path) + "-wal", error);
    return !error && size > 0;
}

// What SQLite would find out only when it reads the page that is missing.
void check_header(const std::string& path) {
    std::array<unsigned char, 100> header{};
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw usage_error(fmt::format("'{}' cannot be read; check its permissions", path));
    }
    file.read(reinterpret_cast<char*>(header.data()), header.size());
    const std::string_view magic(reinterpret_cast<const char*>(header.data()), 15);
    if (magic != "SQLite format 3") {
        throw usage_error(fmt::format(
            "'{}' is not an etalon results file (not SQLite); choose another with --db", path));
    }
    if (file.gcount() < 100) {
        throw usage_error(fmt::format("'{}' is truncated; restore it from a backup", path));
    }
    // A writer killed amid a checkpoint leaves the first page ahead of the rest; its -wal holds
    // all.
    if (has_wal(path)) return;
    const std::uint32_t stored = big_endian(header.data() + 16, 2);
    const std::uint64_t page = stored == 1 ? 65536 : stored;
    const std::uint64_t pages = big_endian(header.data() + 28, 4);
    if (fs::file_size(path) < page * pages) {
        throw usage_error(
            fmt::format("'{}' is truncated ({} of {} bytes); restore it from a backup", path,
                        fs::file_size(path), page * pages));
    }
}

std::string percent_encoded(const std::string& path) {
    std::string out;
    for (const char c : path) {
        if (c == '%' || c == '?' || c == '#') {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out;
}

// A reader opens for writing too and promises not to (query_only): only such a connection can tidy
// the -wal and -shm files away when it closes. Where the file or its folder is read-only and no
// writer has left a -wal, the file cannot change and is read as it is.
std::unique_ptr<SQLite::Database> open_reader(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    const bool writable = access(path.c_str(), W_OK) == 0 && access(folder.c_str(), W_OK) == 0;
    if (!writable && !exists(path + "-wal")) {
        return std::make_unique<SQLite::Database>("file:" + percent_encoded(path) + "?immutable=1",
                                                  SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                                                  busy_timeout_ms);
    }
    auto database = std::make_unique<SQLite::Database>(
        path, writable ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY, busy_timeout_ms);
    database->exec("PRAGMA query_only = ON");
    return database;
}

void set_journal(SQLite::Database& database) {
    // With WAL, NORMAL survives a killed program; only a power cut can take the last commits.
    // Each checkpoint waits for the disk twice: one for every 16 MiB of -wal, not for every 4.
    database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4096");
}

bool is_blank(SQLite::Database& database) {
    // Asked of every file: it reads the whole schema, so that damage there is seen on opening.
    const bool bare = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
    return bare && schema_of(database) == 0 &&
           database.execAndGet("PRAGMA application_id").getInt() == 0;
}

void check_schema(SQLite::Database& database, const std::string& path, Store::Mode mode) {
    if (is_blank(database)) {
        if (mode != Store::Mode::create) {
            throw usage_error(
                fmt::format("'{}' is empty; `etalon sweep --db {}` fills it", path, path));
        }
        set_journal(database);
        migrate(database, path, schema_version, migration_sql);
        return;
    }
    if (database.execAndGet("PRAGMA application_id").getInt() != application_id) {
        throw usage_error(fmt::format(
            "'{}' is an SQLite file of another program; choose another with --db", path));
    }
    const int version = schema_of(database);
    if (version < 1) {
        throw usage_error(fmt::format(
            "'{}' has tables of etalon and schema {}, which none has; restore it from a backup",
            path, version));
    }
    if (version > schema_version) {
        throw usage_error(
            fmt::format("'{}' has schema {}, this etalon knows up to {}; update etalon", path,
                        version, schema_version));
    }
    if (version < schema_version && mode == Store::Mode::read) {
        throw usage_error(
            fmt::format("'{}' has the older schema {}; run `etalon db migrate --db {}` first", path,
                        version, path));
    }
    if (mode != Store::Mode::read) {
        set_journal(database);
        if (version < schema_version) migrate(database, path, schema_version, migration_sql);
    }
}

}  // namespace

Error fault_of(const std::string& path, const SQLite::Exception& error) {
    const int code = error.getErrorCode();
    switch (code & 0xFF) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return usage_error(fmt::format(
                "'{}' is locked by another program; wait for it to end, or choose another --db",
                path));
        case SQLITE_CORRUPT:
            return usage_error(fmt::format("'{}' is damaged ({}); restore it from a backup", path,
                                           one_line(error.what())));
        case SQLITE_NOTADB:
            return usage_error(fmt::format(
                "'{}' is not an etalon results file (not SQLite); choose another with --db", path));
        case SQLITE_READONLY:
            return usage_error(fmt::format(
                "'{}' is read-only; make it and its folder writable, or choose another --db",
                path));
        case SQLITE_CANTOPEN:
            return usage_error(fmt::format(
                "'{}' cannot be opened; check that its folder is there and writable", path));
        case SQLITE_FULL:
            return device_error(fmt::format(
                "the disk that holds '{}' is full; make room and resume: what was measured is kept",
                path));
        case SQLITE_IOERR:
            return device_error(fmt::format(
                "'{}' could not be read or written ({}); check the disk: what was measured is kept",
                path, error.getErrorStr()));
        default:
            return device_error(
                fmt::format("'{}' could not be used ({}); check it with `etalon db verify --db {}`",
                            path, one_line(error.what()), path));
    }
}

std::string real_path(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : real.string();
}

namespace {

// Whether there is anything in the file to open.
void check_file(const std::string& path, Store::Mode mode) {
    if (path.empty()) throw usage_error("'' names no results file; give one with --db");
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
        throw usage_error(fmt::format("'{}' is a folder; --db takes a file", path));
    }
    const bool there = fs::exists(status);
    if (there && !fs::is_regular_file(status)) {
        throw usage_error(fmt::format("'{}' is no regular file; choose another with --db", path));
    }
    if (!there && mode != Store::Mode::create) {
        throw usage_error(fmt::format(
            "there is no results file '{}'; `etalon sweep --db {}` makes one", path, path));
    }
    const bool empty = there && fs::file_size(path) == 0;
    if (empty && mode != Store::Mode::create) {
        throw usage_error(
            fmt::format("'{}' is empty; `etalon sweep --db {}` fills it", path, path));
    }
    if (there && !empty) check_header(path);
}

}  // namespace

int schema_of(const std::string& path) {
    check_file(path, Store::Mode::read);
    return guarded(path, [&] { return schema_of(*open_reader(real_path(path))); });
}

Error damage(const std::string& path, const std::string& where, const Error& error) {
    return usage_error(
        fmt::format("'{}' cannot be read at {}: {}; `etalon db verify --db {}` lists the damage, "
                    "restore a backup",
                    path, where, error.what(), path));
}

void vacuum_into(SQLite::Database& database, const std::string& copy) {
    SQLite::Statement statement(database, "VACUUM INTO ?");
    statement.bind(1, copy);
    statement.exec();
}

std::unique_ptr<SQLite::Database> open_database(const std::string& path, Store::Mode mode) {
    check_file(path, mode);
    return guarded(path, [&] {
        std::unique_ptr<SQLite::Database> database =
            mode == Store::Mode::read
                ? open_reader(real_path(path))
                : std::make_unique<SQLite::Database>(real_path(path),
                                                     SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                                     busy_timeout_ms);
        database->exec("PRAGMA foreign_keys = ON");
        check_schema(*database, path, mode);
        return database;
    });
}

}  // namespace etalon::store
