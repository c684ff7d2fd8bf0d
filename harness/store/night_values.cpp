// The one reader that must see every measurement of years: whole numbers and one real a row.

#include <algorithm>
#include <limits>
#include <numeric>

#include "harness/store/store_impl.h"

namespace etalon {
namespace {

// Row ids of the file to indices of the answer.
using Index = std::unordered_map<std::int64_t, std::uint32_t>;

class Reader {
   public:
    Reader(SQLite::Database& database, NightValues& out) : database_(database), out_(out) {}

    void know_runs() {
        std::unordered_map<std::string, std::uint32_t> wanted;
        for (std::size_t i = 0; i < out_.runs.size(); ++i) {
            wanted[out_.runs[i].run_id] = static_cast<std::uint32_t>(i);
        }
        SQLite::Statement query(database_, "SELECT id, run_id FROM runs");
        while (query.executeStep()) {
            const auto found = wanted.find(query.getColumn(1).getString());
            if (found != wanted.end()) runs_[query.getColumn(0).getInt64()] = found->second;
        }
    }

    void know_cases(const std::vector<std::string>& ids) {
        std::unordered_map<std::string, std::uint32_t> wanted;
        for (std::size_t i = 0; i < ids.size(); ++i) wanted[ids[i]] = static_cast<std::uint32_t>(i);
        SQLite::Statement query(database_, "SELECT id, case_id FROM cases");
        while (query.executeStep()) {
            const auto found = wanted.find(query.getColumn(1).getString());
            if (found != wanted.end()) cases_[query.getColumn(0).getInt64()] = found->second;
        }
    }

    void read_all() {
        // Grown by doubling, the rows of years would for a moment stand there twice.
        SQLite::Statement count(database_, "SELECT max(id) FROM measurements");
        if (count.executeStep()) {
            constexpr std::int64_t most = 100'000'000;
            const std::int64_t rows =
                std::clamp<std::int64_t>(count.getColumn(0).getInt64(), 0, most);
            out_.values.reserve(static_cast<std::size_t>(rows));
        }
        SQLite::Statement query(database_, std::string(columns) + "FROM measurements m");
        take(query);
    }

    // The index is by run, then case: one look-up for each run.
    void read_cases() {
        SQLite::Statement query(database_, std::string(columns) +
                                               "FROM runs r CROSS JOIN measurements m "
                                               "ON m.run = r.id AND m.case_key = ?");
        for (const auto& [key, index] : cases_) {
            query.reset();
            query.bind(1, key);
            take(query);
        }
    }

    void sort() {
        std::sort(out_.values.begin(), out_.values.end(), [](const auto& a, const auto& b) {
            return std::pair(a.case_index, a.run) < std::pair(b.case_index, b.run);
        });
    }

   private:
    static constexpr const char* columns =
        "SELECT m.run, m.case_key, m.status, m.norm_time_ns, "
        "m.method ";

    void take(SQLite::Statement& query) {
        while (query.executeStep()) {
            const auto run = runs_.find(query.getColumn(0).getInt64());
            const auto key = cases_.find(query.getColumn(1).getInt64());
            if (run == runs_.end() || key == cases_.end()) continue;
            const SQLite::Column time = query.getColumn(3);
            out_.values.push_back(
                {run->second, key->second, method(query.getColumn(4)),
                 parse_status(query.getColumn(2).getText()),
                 time.isNull() ? std::numeric_limits<double>::quiet_NaN() : time.getDouble()});
        }
    }

    std::uint32_t method(const SQLite::Column& column) {
        const std::int64_t id = column.isNull() ? -1 : column.getInt64();
        const auto known = methods_.find(id);
        if (known != methods_.end()) return known->second;
        std::string text;
        if (id >= 0) {
            SQLite::Statement query(database_, "SELECT text FROM texts WHERE id = ?");
            query.bind(1, id);
            if (query.executeStep()) text = query.getColumn(0).getString();
        }
        out_.methods.push_back(text);
        return methods_[id] = static_cast<std::uint32_t>(out_.methods.size() - 1);
    }

    SQLite::Database& database_;
    NightValues& out_;
    Index runs_, cases_, methods_;
};

}  // namespace

NightValues Store::night_values(const Selection& selection,
                                const std::vector<std::string>& wanted) const {
    return impl_->read([&] {
        NightValues out;
        out.runs = runs(selection);
        for (const Run& run : out.runs) {
            if (!out.environments.contains(run.environment_hash)) {
                out.environments[run.environment_hash] = environment(run.environment_hash);
            }
        }
        const std::vector<std::string> all =
            wanted.empty() ? case_ids() : std::vector<std::string>();
        out.case_ids = wanted.empty() ? all : wanted;
        Reader reader(*impl_->database, out);
        reader.know_runs();
        reader.know_cases(out.case_ids);
        // Past some hundred cases one pass over the table is cheaper than look-ups.
        constexpr std::size_t few = 300;
        wanted.empty() || wanted.size() > few ? reader.read_all() : reader.read_cases();
        reader.sort();
        return out;
    });
}

}  // namespace etalon
