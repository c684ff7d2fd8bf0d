// What Store holds: the connection, prepared statements, and the ids of texts and cases seen.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "harness/store/connection.h"
#include "harness/store/samples_codec.h"
#include "harness/store/store.h"

namespace etalon {

struct Store::Impl {
    std::string path;
    std::unique_ptr<SQLite::Database> database;
    std::unordered_map<std::string, std::int64_t> text_ids, case_ids, run_keys;
    // By the address of its text, a literal: no text is compared or copied for each measurement.
    std::unordered_map<const char*, std::unique_ptr<SQLite::Statement>> statements;
    store::SamplesEncoder encoder;

    // Prepared once, reset and unbound on each use.
    SQLite::Statement& statement(const char* sql);
    // One transaction, rolled back when `function` throws.
    template <typename Function>
    void write(Function&& function) {
        try {
            store::guarded(path, [&] {
                statement("BEGIN IMMEDIATE").exec();
                function();
                statement("COMMIT").exec();
            });
        } catch (...) {
            roll_back();
            throw;
        }
    }
    void roll_back() noexcept;
    template <typename Function>
    decltype(auto) read(Function&& function) const {
        return store::guarded(path, std::forward<Function>(function));
    }

    [[nodiscard]] std::int64_t run_key(const std::string& run_id);
    [[nodiscard]] std::int64_t case_key(const std::string& case_id);
    // nullopt for the empty text.
    [[nodiscard]] std::optional<std::int64_t> text_id(const std::string& text);

    void insert_environment(const Environment& environment);
    void insert_run(const Run& run, const std::vector<std::string>& plan);
    void update_run(const Run& run);  // state, end and tag
    void insert(std::int64_t run, std::int64_t key, const Measurement& m, std::int64_t repeat);
    void insert(std::int64_t run, const Ratio& ratio, std::int64_t repeat);
    // What `sql`, which takes run and case, says the next repeat is.
    [[nodiscard]] std::int64_t next_repeat(const char* sql, std::int64_t run, std::int64_t key);
};

namespace store {

// Throws a usage Error for a value that no measurement can have.
void refuse_nonsense(const Measurement& m);

// A case id as it stands in the file, without asking what the op is.
[[nodiscard]] Case parse_stored_case(const std::string& case_id);

}  // namespace store

}  // namespace etalon
