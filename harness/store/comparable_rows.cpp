// The rows that a comparison needs, of many runs, without what it does not look at.

#include "harness/store/store_impl.h"

namespace etalon {
namespace {

class Texts {
   public:
    explicit Texts(SQLite::Database& database)
        : query_(database, "SELECT text FROM texts WHERE id = ?") {}

    const std::string& of(const SQLite::Column& id) {
        if (id.isNull()) return none_;
        const auto [at, fresh] = known_.try_emplace(id.getInt64());
        if (fresh) {
            query_.reset();
            query_.bind(1, at->first);
            if (query_.executeStep()) at->second = query_.getColumn(0).getString();
        }
        return at->second;
    }

   private:
    SQLite::Statement query_;
    std::unordered_map<std::int64_t, std::string> known_;
    std::string none_;
};

std::optional<Estimate> estimate(SQLite::Statement& query, int first) {
    if (query.getColumn(first).isNull()) return std::nullopt;
    const double value = query.getColumn(first).getDouble();
    const auto bound = [&](int at) {
        return query.getColumn(at).isNull() ? value : query.getColumn(at).getDouble();
    };
    return Estimate{value, bound(first + 1), bound(first + 2)};
}

}  // namespace

std::vector<MeasurementRow> Store::comparable_rows(const std::vector<Run>& runs,
                                                   bool with_samples) const {
    return impl_->read([&] {
        SQLite::Database& database = *impl_->database;
        struct KnownCase {
            std::string id;
            Case key;
        };
        std::unordered_map<std::int64_t, KnownCase> cases;
        SQLite::Statement all_cases(database, "SELECT id, case_id FROM cases");
        while (all_cases.executeStep()) {
            const std::string id = all_cases.getColumn(1).getString();
            cases[all_cases.getColumn(0).getInt64()] = {
                id, store::sound(impl_->path, "its cases",
                                 [&] { return store::parse_stored_case(id); })};
        }
        Texts texts(database);
        SQLite::Statement query(
            database, std::string("SELECT m.case_key, m.repeat, m.sample_count, m.status, "
                                  "m.reason, m.method, m.clock_mhz, m.norm_time_ns, m.norm_lo_ns, "
                                  "m.norm_hi_ns, m.elasticity, m.elasticity_lo, m.elasticity_hi, "
                                  "m.description") +
                          (with_samples ? ", m.samples " : " ") +
                          "FROM runs r JOIN measurements m ON m.run = r.id WHERE r.run_id = ? "
                          "ORDER BY m.case_key, m.repeat");
        std::vector<MeasurementRow> rows;
        for (const Run& run : runs) {
            const Environment where = environment(run.environment_hash);
            query.reset();
            query.bind(1, run.run_id);
            while (query.executeStep()) {
                MeasurementRow& row = rows.emplace_back();
                row.run_id = run.run_id;
                row.started_at = run.started_at;
                row.gpu = where.gpu;
                row.environment_hash = run.environment_hash;
                row.device = run.device;
                row.floor_ns = run.floor_ns;
                row.quantum_ns = run.quantum_ns;
                const KnownCase& known = cases.at(query.getColumn(0).getInt64());
                row.case_id = known.id;
                row.m.key = known.key;
                row.repeat = query.getColumn(1).getInt();
                row.sample_count = query.getColumn(2).getInt();
                row.m.status = parse_status(query.getColumn(3).getText());
                row.m.reason = texts.of(query.getColumn(4));
                row.m.method = texts.of(query.getColumn(5));
                row.m.clock_mhz = query.getColumn(6).getDouble();
                row.m.norm_time_ns = estimate(query, 7);
                row.m.elasticity = estimate(query, 10);
                if (&run == &runs.back()) row.m.description = texts.of(query.getColumn(13));
                if (!with_samples || query.getColumn(14).isNull()) continue;
                const SQLite::Column blob = query.getColumn(14);
                row.m.samples =
                    store::sound(impl_->path, "run " + run.run_id + ", " + known.id, [&] {
                        return store::decode_samples({static_cast<const char*>(blob.getBlob()),
                                                      static_cast<std::size_t>(blob.getBytes())});
                    });
            }
        }
        return rows;
    });
}

}  // namespace etalon
