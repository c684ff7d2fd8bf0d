// What was last seen of each case.

#include "harness/store/store_impl.h"

namespace etalon {

std::vector<std::pair<std::string, double>> Store::wall_ms(
    const std::string& environment_hash) const {
    return impl_->read([&] {
        // With one max() SQLite takes the other columns from the row that holds it.
        SQLite::Statement query(
            *impl_->database,
            "SELECT c.case_id, m.wall_ms, max(m.measured_at) FROM measurements m "
            "JOIN runs r ON r.id = m.run JOIN environments e ON e.id = r.environment "
            "JOIN cases c ON c.id = m.case_key WHERE e.hash = ? GROUP BY c.case_id");
        query.bind(1, environment_hash);
        std::vector<std::pair<std::string, double>> out;
        while (query.executeStep()) {
            out.emplace_back(query.getColumn(0).getString(), query.getColumn(1).getDouble());
        }
        return out;
    });
}

std::unordered_map<std::string, std::string> Store::descriptions(const Environment& like) const {
    return impl_->read([&] {
        SQLite::Statement query(
            *impl_->database,
            "SELECT c.case_id, t.text, max(m.measured_at) FROM environments e "
            "JOIN runs r ON r.environment = e.id JOIN measurements m ON m.run = r.id "
            "JOIN cases c ON c.id = m.case_key JOIN texts t ON t.id = m.description "
            "WHERE m.status = 'ok' AND e.device_kind = ? AND e.gpu = ? AND e.driver = ? AND "
            "e.cuda_runtime = ? AND e.cublas = ? AND e.cudnn = ? GROUP BY m.case_key");
        int at = 0;
        for (const auto& field : {like.device_kind, like.gpu, like.driver, like.cuda_runtime,
                                  like.cublas, like.cudnn}) {
            query.bind(++at, field);
        }
        std::unordered_map<std::string, std::string> out;
        while (query.executeStep()) {
            out[query.getColumn(0).getString()] = query.getColumn(1).getString();
        }
        return out;
    });
}

}  // namespace etalon
