// Everything that asks a results file, but for verify and export.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "harness/store/store_impl.h"

namespace etalon {
namespace {

constexpr const char* run_columns =
    "SELECT r.run_id, r.started_at, r.finished_at, r.state, r.suite, r.device, r.revision, "
    "r.host_name, r.tag, r.options, r.floor_ns, r.quantum_ns, e.hash "
    "FROM runs r JOIN environments e ON e.id = r.environment ";

constexpr const char* measurement_columns =
    "SELECT r.run_id, r.started_at, r.suite, e.gpu, e.driver, e.cuda_runtime, e.cublas, e.cudnn, "
    "e.hash, r.revision, r.device, r.tag, r.floor_ns, r.quantum_ns, c.case_id, m.sample_count, "
    "m.status, tr.text, m.time_ns, m.time_lo_ns, m.time_hi_ns, m.norm_time_ns, m.norm_lo_ns, "
    "m.norm_hi_ns, m.elasticity, m.elasticity_lo, m.elasticity_hi, m.clock_mhz, m.flop, "
    "m.bytes_min, m.power_w, m.temperature_c, m.reported_clock_mhz, m.memory_clock_mhz, "
    "m.event_reasons, m.other_processes, m.ecc_errors, tm.text, ts.text, td.text, ti.text, m.seed, "
    "m.error, m.wall_ms, m.measured_at, m.repeat, "
    "tk.text "
    "FROM measurements m JOIN runs r ON r.id = m.run JOIN environments e ON e.id = r.environment "
    "JOIN cases c ON c.id = m.case_key "
    "LEFT JOIN texts tr ON tr.id = m.reason LEFT JOIN texts tm ON tm.id = m.method "
    "LEFT JOIN texts ts ON ts.id = m.stop_reason LEFT JOIN texts td ON td.id = m.description "
    "LEFT JOIN texts ti ON ti.id = m.distribution LEFT JOIN texts tk ON tk.id = m.modes ";

RunState parse_state(const std::string& text) {
    for (const RunState state : {RunState::running, RunState::finished, RunState::interrupted}) {
        if (name(state) == text) return state;
    }
    throw usage_error(fmt::format("'{}' is no state of a run; run `etalon db verify`", text));
}

// Reads columns one after another.
class Columns {
   public:
    explicit Columns(SQLite::Statement& statement) : statement_(statement) {}
    std::string text() {
        const SQLite::Column column = next();
        return column.isNull() ? "" : column.getString();
    }
    double real() { return next().getDouble(); }
    std::int64_t integer() { return next().getInt64(); }
    std::optional<double> optional_real() {
        const SQLite::Column column = next();
        return column.isNull() ? std::nullopt : std::optional(column.getDouble());
    }
    std::optional<std::int64_t> optional_integer() {
        const SQLite::Column column = next();
        return column.isNull() ? std::nullopt : std::optional<std::int64_t>(column.getInt64());
    }
    std::optional<Estimate> estimate() {
        const auto value = optional_real(), lo = optional_real(), hi = optional_real();
        if (!value) return std::nullopt;
        return Estimate{*value, lo.value_or(*value), hi.value_or(*value)};
    }

   private:
    SQLite::Column next() { return statement_.getColumn(at_++); }
    SQLite::Statement& statement_;
    int at_ = 0;
};

// The first column of every row.
std::vector<std::string> texts_of(SQLite::Statement& query) {
    std::vector<std::string> texts;
    while (query.executeStep()) texts.push_back(query.getColumn(0).getString());
    return texts;
}

Run run_of(SQLite::Statement& statement) {
    Columns c(statement);
    Run run;
    run.run_id = c.text();
    run.started_at = c.text();
    run.finished_at = c.text();
    run.state = parse_state(c.text());
    run.suite = c.text();
    run.device = c.text();
    run.revision = c.text();
    run.host_name = c.text();
    run.tag = c.text();
    run.options = c.text();
    run.floor_ns = c.real();
    run.quantum_ns = c.real();
    run.environment_hash = c.text();
    return run;
}

MeasurementRow measurement_of(SQLite::Statement& statement) {
    Columns c(statement);
    MeasurementRow row;
    row.run_id = c.text();
    row.started_at = c.text();
    row.suite = c.text();
    row.gpu = c.text();
    row.driver = c.text();
    row.cuda_runtime = c.text();
    row.cublas = c.text();
    row.cudnn = c.text();
    row.environment_hash = c.text();
    row.revision = c.text();
    row.device = c.text();
    row.tag = c.text();
    row.floor_ns = c.real();
    row.quantum_ns = c.real();
    row.case_id = c.text();
    row.sample_count = static_cast<int>(c.integer());
    Measurement& m = row.m;
    m.key = store::parse_stored_case(row.case_id);
    m.status = parse_status(c.text());
    m.reason = c.text();
    m.time_ns = c.estimate();
    m.norm_time_ns = c.estimate();
    m.elasticity = c.estimate();
    m.clock_mhz = c.real();
    m.flop = c.real();
    m.bytes_min = c.real();
    m.conditions.power_w = c.optional_real();
    m.conditions.temperature_c = c.optional_real();
    m.conditions.reported_clock_mhz = c.optional_real();
    m.conditions.memory_clock_mhz = c.optional_real();
    if (const auto mask = c.optional_integer()) {
        m.conditions.event_reasons = static_cast<std::uint64_t>(*mask);
    }
    m.conditions.other_processes = c.optional_integer();
    m.conditions.ecc_errors = c.optional_integer();
    m.method = c.text();
    m.stop_reason = c.text();
    m.description = c.text();
    m.distribution = c.text();
    m.seed = static_cast<std::uint64_t>(c.integer());
    m.error = c.optional_real().value_or(std::numeric_limits<double>::quiet_NaN());
    m.wall_ms = c.real();
    m.measured_at = c.text();
    row.repeat = static_cast<int>(c.integer());
    m.modes = c.text();
    return row;
}

MeasurementRow sound_measurement_of(const std::string& path, SQLite::Statement& statement) {
    const std::string run_id = statement.getColumn(0).getString();
    const std::string case_id = statement.getColumn(14).getString();
    return store::sound(path, fmt::format("run {}, {}", run_id, case_id),
                        [&] { return measurement_of(statement); });
}

}  // namespace

Case store::parse_stored_case(const std::string& case_id) {
    const CaseIdParts parts = split_case_id(case_id);
    const std::vector<Axis> given = parse_axes(parts.axes);
    std::vector<AxisSpec> specs;
    for (const Axis& axis : given) specs.push_back({.name = axis.name, .min = 0, .max = INT64_MAX});
    return {{parts.op, parse_precision(parts.precision), Axes(specs, given, parts.op)},
            parts.provider,
            parts.variant,
            parse_l2(parts.l2)};
}

std::vector<Run> Store::runs(const Selection& selection) const {
    return impl_->read([&] {
        SQLite::Statement query(*impl_->database,
                                std::string(run_columns) + "ORDER BY r.started_at, r.run_id");
        std::map<std::string, Environment> environments;
        std::vector<Run> found;
        while (query.executeStep()) {
            Run run = run_of(query);
            auto [at, fresh] = environments.try_emplace(run.environment_hash);
            if (fresh) at->second = environment(run.environment_hash);
            if (selection.matches(run, at->second)) found.push_back(std::move(run));
        }
        return found;
    });
}

Run Store::run(const std::string& id_prefix) const {
    const std::vector<Run> found = runs({.run = id_prefix});
    if (found.empty()) {
        throw usage_error(
            fmt::format("'{}' has no run '{}'; `etalon history --db {} --runs` lists "
                        "the runs",
                        impl_->path, id_prefix, impl_->path));
    }
    for (const Run& run : found) {
        if (run.run_id == id_prefix) return run;
    }
    if (found.size() > 1) {
        throw usage_error(
            fmt::format("'{}' begins the id of {} runs, {} and {} among them; give "
                        "more of it",
                        id_prefix, found.size(), found[0].run_id, found[1].run_id));
    }
    return found.front();
}

Environment Store::environment(const std::string& hash) const {
    return impl_->read([&] {
        SQLite::Statement query(
            *impl_->database,
            "SELECT device_kind, gpu, sm_count, memory_bytes, vbios, driver, cuda_runtime, cublas, "
            "cudnn, power_limit_w, ecc, mig, host_cpu, os, etalon_version, method, "
            "reference_clock_mhz, extra FROM environments WHERE hash = ?");
        query.bind(1, hash);
        if (!query.executeStep()) {
            throw usage_error(fmt::format("'{}' has no environment {}", impl_->path, hash));
        }
        Columns c(query);
        Environment e;
        e.device_kind = c.text();
        e.gpu = c.text();
        e.sm_count = static_cast<int>(c.integer());
        e.memory_bytes = c.integer();
        e.vbios = c.text();
        e.driver = c.text();
        e.cuda_runtime = c.text();
        e.cublas = c.text();
        e.cudnn = c.text();
        e.power_limit_w = c.real();
        e.ecc = c.text();
        e.mig = c.text();
        e.host_cpu = c.text();
        e.os = c.text();
        e.etalon_version = c.text();
        e.method = static_cast<int>(c.integer());
        e.reference_clock_mhz = c.real();
        try {
            e.extra = nlohmann::json::parse(c.text()).get<std::map<std::string, std::string>>();
        } catch (const nlohmann::json::exception&) {
            throw usage_error(fmt::format("'{}': environment {} is damaged; restore a backup",
                                          impl_->path, hash));
        }
        return e;
    });
}

std::vector<std::string> Store::plan(const std::string& run_id) const {
    return impl_->read([&] {
        SQLite::Statement query(*impl_->database,
                                "SELECT c.case_id FROM plan p JOIN runs r ON r.id = p.run "
                                "JOIN cases c ON c.id = p.case_key WHERE r.run_id = ? "
                                "ORDER BY p.position");
        query.bind(1, run_id);
        return texts_of(query);
    });
}

std::vector<std::string> Store::pending(const std::string& run_id) const {
    return impl_->read([&] {
        SQLite::Statement query(
            *impl_->database,
            "SELECT c.case_id FROM plan p JOIN runs r ON r.id = p.run "
            "JOIN cases c ON c.id = p.case_key WHERE r.run_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM measurements m WHERE m.run = p.run AND m.case_key = p.case_key) "
            "ORDER BY p.position");
        query.bind(1, run_id);
        return texts_of(query);
    });
}

std::vector<MeasurementRow> Store::measurements(const std::string& run_id) const {
    return impl_->read([&] {
        SQLite::Statement query(*impl_->database,
                                std::string(measurement_columns) +
                                    "LEFT JOIN plan p ON p.run = m.run AND p.case_key = m.case_key "
                                    "WHERE r.run_id = ? ORDER BY p.position, c.case_id, m.repeat");
        query.bind(1, run_id);
        std::vector<MeasurementRow> rows;
        while (query.executeStep()) rows.push_back(sound_measurement_of(impl_->path, query));
        return rows;
    });
}

std::vector<Sample> Store::samples(const std::string& run_id, const std::string& case_id) const {
    return samples_of(run_id, case_id, -1);
}

std::vector<Sample> Store::samples_of(const std::string& run_id, const std::string& case_id,
                                      int repeat) const {
    return impl_->read([&] {
        SQLite::Statement query(
            *impl_->database,
            "SELECT m.samples FROM measurements m JOIN runs r ON r.id = m.run "
            "JOIN cases c ON c.id = m.case_key WHERE r.run_id = ? AND c.case_id = ? "
            "AND (m.repeat = ? OR ? < 0) ORDER BY m.repeat");
        query.bind(1, run_id);
        query.bind(2, case_id);
        query.bind(3, repeat);
        query.bind(4, repeat);
        std::vector<Sample> all;
        while (query.executeStep()) {
            const SQLite::Column blob = query.getColumn(0);
            if (blob.isNull()) continue;
            const auto place = fmt::format("run {}, {}", run_id, case_id);
            const std::vector<Sample> some = store::sound(impl_->path, place, [&] {
                return store::decode_samples({static_cast<const char*>(blob.getBlob()),
                                              static_cast<std::size_t>(blob.getBytes())});
            });
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    });
}

std::vector<MeasurementRow> Store::series(const std::string& case_id,
                                          const Selection& selection) const {
    return impl_->read([&] {
        std::map<std::string, bool> wanted;
        for (const Run& run : runs(selection)) wanted[run.run_id] = true;
        SQLite::Statement query(
            *impl_->database, std::string(measurement_columns) +
                                  "WHERE c.case_id = ? ORDER BY r.started_at, r.run_id, m.repeat");
        query.bind(1, case_id);
        std::vector<MeasurementRow> rows;
        while (query.executeStep()) {
            MeasurementRow row = sound_measurement_of(impl_->path, query);
            if (wanted.contains(row.run_id)) rows.push_back(std::move(row));
        }
        return rows;
    });
}

std::vector<std::string> Store::case_ids() const {
    return impl_->read([&] {
        SQLite::Statement query(*impl_->database,
                                "SELECT DISTINCT c.case_id FROM cases c "
                                "JOIN measurements m ON m.case_key = c.id ORDER BY c.case_id");
        return texts_of(query);
    });
}

TimeTable Store::times(const Selection& selection) const {
    return impl_->read([&] {
        TimeTable table;
        table.runs = runs(selection);
        std::unordered_map<std::int64_t, std::size_t> run_at, case_at;
        {
            std::unordered_map<std::string, std::size_t> by_id;
            for (std::size_t i = 0; i < table.runs.size(); ++i) by_id[table.runs[i].run_id] = i;
            SQLite::Statement query(*impl_->database, "SELECT id, run_id FROM runs");
            while (query.executeStep()) {
                const auto found = by_id.find(query.getColumn(1).getString());
                if (found != by_id.end()) run_at[query.getColumn(0).getInt64()] = found->second;
            }
        }
        {
            SQLite::Statement query(*impl_->database, "SELECT id, case_id FROM cases ORDER BY id");
            while (query.executeStep()) {
                case_at[query.getColumn(0).getInt64()] = table.case_ids.size();
                table.case_ids.push_back(query.getColumn(1).getString());
            }
        }
        // No join: a row is seven numbers, and there may be hundreds of thousands.
        SQLite::Statement query(
            *impl_->database,
            "SELECT run, case_key, status = 'incorrect', sample_count, time_ns, time_lo_ns, "
            "time_hi_ns FROM measurements WHERE status = 'incorrect' OR (status = 'ok' AND "
            "time_ns > 0)");
        std::set<std::pair<std::size_t, std::size_t>> incorrect;
        while (query.executeStep()) {
            const auto run = run_at.find(query.getColumn(0).getInt64());
            if (run == run_at.end()) continue;
            const std::size_t key = case_at.at(query.getColumn(1).getInt64());
            if (query.getColumn(2).getInt() != 0) {
                incorrect.emplace(run->second, key);
                continue;
            }
            const double value = query.getColumn(4).getDouble();
            const SQLite::Column lo = query.getColumn(5), hi = query.getColumn(6);
            table.rows.push_back({run->second,
                                  key,
                                  query.getColumn(3).getInt(),
                                  {value, lo.isNull() ? value : lo.getDouble(),
                                   hi.isNull() ? value : hi.getDouble()}});
        }
        if (!incorrect.empty()) {
            std::erase_if(table.rows, [&](const TimeTable::Row& row) {
                return incorrect.contains({row.run, row.key});
            });
        }
        return table;
    });
}

std::vector<RatioRow> Store::ratios(const std::string& run_id) const {
    return impl_->read([&] {
        SQLite::Statement query(
            *impl_->database,
            "SELECT r.run_id, c.case_id, b.case_id, t.ratio, t.lo, t.hi, t.repeat FROM ratios t "
            "JOIN runs r ON r.id = t.run JOIN cases c ON c.id = t.case_key "
            "JOIN cases b ON b.id = t.baseline_key WHERE r.run_id = ? "
            "ORDER BY c.case_id, t.repeat, b.case_id");
        query.bind(1, run_id);
        std::vector<RatioRow> rows;
        while (query.executeStep()) {
            Columns c(query);
            RatioRow row;
            row.run_id = c.text();
            row.ratio.case_id = c.text();
            row.ratio.baseline_case_id = c.text();
            row.ratio.ratio = c.estimate().value_or(Estimate{});
            row.repeat = static_cast<int>(c.integer());
            const Problem problem = store::parse_stored_case(row.ratio.case_id).problem;
            row.op = problem.op;
            row.precision = std::string(name(problem.precision));
            row.axes = problem.axes.text(';');
            rows.push_back(std::move(row));
        }
        return rows;
    });
}

}  // namespace etalon
