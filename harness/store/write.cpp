// Everything that changes a results file, but for merge.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/store/bytes.h"
#include "harness/store/store_impl.h"

namespace etalon {
namespace {

constexpr const char* next_measurement =
    "SELECT coalesce(max(repeat) + 1, 0) FROM measurements WHERE run = ? AND case_key = ?";
constexpr const char* next_ratio =
    "SELECT coalesce(max(repeat) + 1, 0) FROM ratios WHERE run = ? AND case_key = ?";

void bind_estimate(SQLite::Statement& statement, int at, const std::optional<Estimate>& estimate) {
    if (!estimate) return;
    statement.bind(at, estimate->value);
    statement.bind(at + 1, estimate->lo);
    statement.bind(at + 2, estimate->hi);
}

template <typename T>
void bind_optional(SQLite::Statement& statement, int at, const std::optional<T>& value) {
    if (value) statement.bind(at, *value);
}

// A statement left on a row keeps its snapshot, even beyond the COMMIT: the -wal could not be
// started anew, and a write by another process in between would make the next BEGIN fail.
std::optional<std::int64_t> first_integer(SQLite::Statement& query) {
    std::optional<std::int64_t> value;
    if (query.executeStep()) value = query.getColumn(0).getInt64();
    query.reset();
    return value;
}

void bind_finite(SQLite::Statement& statement, int at, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) statement.bind(at, *value);
}

}  // namespace

namespace store {

void refuse_nonsense(const Measurement& m) {
    const auto refuse = [&](std::string_view what, double value) {
        throw usage_error(fmt::format("{}: {} is {}, which no measurement can be; it is not stored",
                                      m.key.id(), what, value));
    };
    const auto check = [&](std::string_view what, double value) {
        if (!std::isfinite(value) || value < 0) refuse(what, value);
    };
    for (const Sample& sample : m.samples) {
        check("a duration", sample.duration_ns);
        check("a clock", sample.clock_mhz);
    }
    for (const auto& [what, estimate] :
         {std::pair{"time_ns", &m.time_ns}, std::pair{"norm_time_ns", &m.norm_time_ns}}) {
        if (!*estimate) continue;
        check(what, (*estimate)->value);
        check(what, (*estimate)->lo);
        check(what, (*estimate)->hi);
    }
    if (m.elasticity) {
        for (const double value : {m.elasticity->value, m.elasticity->lo, m.elasticity->hi}) {
            if (!std::isfinite(value)) refuse("elasticity", value);
        }
    }
    check("clock_mhz", m.clock_mhz);
    check("flop", m.flop);
    check("bytes_min", m.bytes_min);
    check("wall_ms", m.wall_ms);
}

}  // namespace store

std::int64_t Store::Impl::run_key(const std::string& run_id) {
    if (const auto found = run_keys.find(run_id); found != run_keys.end()) return found->second;
    SQLite::Statement& query = statement("SELECT id FROM runs WHERE run_id = ?");
    query.bind(1, run_id);
    const auto key = first_integer(query);
    if (!key) throw usage_error(fmt::format("'{}' has no run {}", path, run_id));
    return run_keys[run_id] = *key;
}

std::int64_t Store::Impl::case_key(const std::string& case_id) {
    if (const auto found = case_ids.find(case_id); found != case_ids.end()) return found->second;
    SQLite::Statement& query = statement("SELECT id FROM cases WHERE case_id = ?");
    query.bind(1, case_id);
    if (const auto key = first_integer(query)) return case_ids[case_id] = *key;
    SQLite::Statement& insertion = statement("INSERT INTO cases (case_id) VALUES (?)");
    insertion.bind(1, case_id);
    insertion.exec();
    return case_ids[case_id] = database->getLastInsertRowid();
}

std::optional<std::int64_t> Store::Impl::text_id(const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (const auto found = text_ids.find(text); found != text_ids.end()) return found->second;
    const auto hash = static_cast<std::int64_t>(store::fnv1a_64(text));
    SQLite::Statement& query = statement("SELECT id FROM texts WHERE hash = ? AND text = ?");
    query.bind(1, hash);
    query.bind(2, text);
    if (const auto key = first_integer(query)) return text_ids[text] = *key;
    SQLite::Statement& insertion = statement("INSERT INTO texts (hash, text) VALUES (?, ?)");
    insertion.bind(1, hash);
    insertion.bind(2, text);
    insertion.exec();
    return text_ids[text] = database->getLastInsertRowid();
}

void Store::Impl::insert_environment(const Environment& e) {
    SQLite::Statement& s = statement(
        "INSERT INTO environments (hash, device_kind, gpu, sm_count, memory_bytes, vbios, driver, "
        "cuda_runtime, cublas, cudnn, power_limit_w, ecc, mig, host_cpu, os, etalon_version, "
        "method, reference_clock_mhz, extra) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT (hash) DO NOTHING");
    s.bind(1, e.hash());
    s.bind(2, e.device_kind);
    s.bind(3, e.gpu);
    s.bind(4, e.sm_count);
    s.bind(5, e.memory_bytes);
    s.bind(6, e.vbios);
    s.bind(7, e.driver);
    s.bind(8, e.cuda_runtime);
    s.bind(9, e.cublas);
    s.bind(10, e.cudnn);
    s.bind(11, e.power_limit_w);
    s.bind(12, e.ecc);
    s.bind(13, e.mig);
    s.bind(14, e.host_cpu);
    s.bind(15, e.os);
    s.bind(16, e.etalon_version);
    s.bind(17, e.method);
    s.bind(18, e.reference_clock_mhz);
    s.bind(19, nlohmann::json(e.extra).dump());
    s.exec();
}

void Store::Impl::insert_run(const Run& run, const std::vector<std::string>& plan) {
    SQLite::Statement& s = statement(
        "INSERT INTO runs (run_id, environment, started_at, finished_at, state, suite, device, "
        "revision, host_name, tag, options, floor_ns, quantum_ns) VALUES "
        "(?, (SELECT id FROM environments WHERE hash = ?), ?,?,?,?,?,?,?,?,?,?,?)");
    s.bind(1, run.run_id);
    s.bind(2, run.environment_hash);
    s.bind(3, run.started_at);
    s.bind(4, run.finished_at);
    s.bind(5, std::string(name(run.state)));
    s.bind(6, run.suite);
    s.bind(7, run.device);
    s.bind(8, run.revision);
    s.bind(9, run.host_name);
    s.bind(10, run.tag);
    s.bind(11, run.options);
    s.bind(12, run.floor_ns);
    s.bind(13, run.quantum_ns);
    s.exec();
    const std::int64_t run_row = database->getLastInsertRowid();
    run_keys[run.run_id] = run_row;
    std::int64_t position = 0;
    for (const std::string& case_id : plan) {
        const std::int64_t key = case_key(case_id);
        SQLite::Statement& p = statement(
            "INSERT INTO plan (run, case_key, position) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
        p.bind(1, run_row);
        p.bind(2, key);
        p.bind(3, position++);
        p.exec();
    }
}

void Store::Impl::update_run(const Run& run) {
    SQLite::Statement& s =
        statement("UPDATE runs SET state = ?, finished_at = ?, tag = ? WHERE run_id = ?");
    s.bind(1, std::string(name(run.state)));
    s.bind(2, run.finished_at);
    s.bind(3, run.tag);
    s.bind(4, run.run_id);
    s.exec();
}

void Store::Impl::insert(std::int64_t run, std::int64_t key, const Measurement& m,
                         std::int64_t repeat) {
    const auto reason = text_id(m.reason), method = text_id(m.method),
               stop = text_id(m.stop_reason), description = text_id(m.description),
               distribution = text_id(m.distribution), modes = text_id(m.modes);
    SQLite::Statement& s = statement(
        "INSERT INTO measurements (run, case_key, repeat, status, reason, sample_count, time_ns, "
        "time_lo_ns, time_hi_ns, norm_time_ns, norm_lo_ns, norm_hi_ns, elasticity, elasticity_lo, "
        "elasticity_hi, clock_mhz, flop, bytes_min, power_w, temperature_c, reported_clock_mhz, "
        "memory_clock_mhz, event_reasons, other_processes, ecc_errors, method, stop_reason, "
        "description, distribution, seed, error, wall_ms, measured_at, samples, modes) VALUES "
        "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    s.bind(1, run);
    s.bind(2, key);
    s.bind(3, repeat);
    s.bindNoCopy(4, name(m.status).data());
    bind_optional(s, 5, reason);
    s.bind(6, static_cast<std::int64_t>(m.samples.size()));
    bind_estimate(s, 7, m.time_ns);
    bind_estimate(s, 10, m.norm_time_ns);
    bind_estimate(s, 13, m.elasticity);
    s.bind(16, m.clock_mhz);
    s.bind(17, m.flop);
    s.bind(18, m.bytes_min);
    bind_finite(s, 19, m.conditions.power_w);
    bind_finite(s, 20, m.conditions.temperature_c);
    bind_finite(s, 21, m.conditions.reported_clock_mhz);
    bind_finite(s, 22, m.conditions.memory_clock_mhz);
    if (m.conditions.event_reasons) {
        s.bind(23, static_cast<std::int64_t>(*m.conditions.event_reasons));
    }
    bind_optional(s, 24, m.conditions.other_processes);
    bind_optional(s, 25, m.conditions.ecc_errors);
    bind_optional(s, 26, method);
    bind_optional(s, 27, stop);
    bind_optional(s, 28, description);
    bind_optional(s, 29, distribution);
    s.bind(30, static_cast<std::int64_t>(m.seed));
    if (!std::isnan(m.error)) s.bind(31, m.error);
    s.bind(32, m.wall_ms);
    s.bind(33, m.measured_at);
    if (!m.samples.empty()) {
        const std::string_view blob = encoder.encode(m.samples);
        s.bind(34, blob.data(), static_cast<int>(blob.size()));
    }
    bind_optional(s, 35, modes);
    s.exec();
}

void Store::Impl::insert(std::int64_t run, const Ratio& ratio, std::int64_t repeat) {
    for (const double value : {ratio.ratio.value, ratio.ratio.lo, ratio.ratio.hi}) {
        if (!std::isfinite(value) || value < 0) {
            throw usage_error(fmt::format("{}: a ratio of {} is not stored", ratio.case_id, value));
        }
    }
    const std::int64_t ours = case_key(ratio.case_id), base = case_key(ratio.baseline_case_id);
    SQLite::Statement& s = statement(
        "INSERT INTO ratios (run, case_key, baseline_key, repeat, ratio, lo, hi) "
        "VALUES (?,?,?,?,?,?,?)");
    s.bind(1, run);
    s.bind(2, ours);
    s.bind(3, base);
    s.bind(4, repeat);
    s.bind(5, ratio.ratio.value);
    s.bind(6, ratio.ratio.lo);
    s.bind(7, ratio.ratio.hi);
    s.exec();
}

std::int64_t Store::Impl::next_repeat(const char* sql, std::int64_t run, std::int64_t key) {
    SQLite::Statement& s = statement(sql);
    s.bind(1, run);
    s.bind(2, key);
    return first_integer(s).value();
}

void Store::begin_run(const Environment& environment, const Run& run,
                      const std::vector<std::string>& plan) {
    Run filed = run;
    filed.environment_hash = environment.hash();
    impl_->write([&] {
        SQLite::Statement& query = impl_->statement("SELECT id FROM runs WHERE run_id = ?");
        query.bind(1, run.run_id);
        if (first_integer(query)) {
            throw usage_error(fmt::format("'{}' has run {} already; begin another, or resume it",
                                          impl_->path, run.run_id));
        }
        impl_->insert_environment(environment);
        impl_->insert_run(filed, plan);
    });
}

void Store::add(const std::string& run_id, const Measurement& measurement) {
    store::refuse_nonsense(measurement);
    impl_->write([&] {
        const std::int64_t run = impl_->run_key(run_id);
        const std::int64_t key = impl_->case_key(measurement.key.id());
        impl_->insert(run, key, measurement, impl_->next_repeat(next_measurement, run, key));
    });
}

void Store::add(const std::string& run_id, const std::vector<Measurement>& measurements) {
    for (const Measurement& m : measurements) store::refuse_nonsense(m);
    impl_->write([&] {
        const std::int64_t run = impl_->run_key(run_id);
        for (const Measurement& m : measurements) {
            const std::int64_t key = impl_->case_key(m.key.id());
            impl_->insert(run, key, m, impl_->next_repeat(next_measurement, run, key));
        }
    });
}

void Store::add(const std::string& run_id, const Ratio& ratio) {
    impl_->write([&] {
        const std::int64_t run = impl_->run_key(run_id);
        const std::int64_t key = impl_->case_key(ratio.case_id);
        impl_->insert(run, ratio, impl_->next_repeat(next_ratio, run, key));
    });
}

void Store::end_run(const std::string& run_id, RunState state, const std::string& finished_at) {
    impl_->write([&] {
        SQLite::Statement& s =
            impl_->statement("UPDATE runs SET state = ?, finished_at = ? WHERE id = ?");
        s.bind(1, std::string(name(state)));
        s.bind(2, finished_at);
        s.bind(3, impl_->run_key(run_id));
        s.exec();
    });
}

void Store::reopen_run(const std::string& run_id) {
    SQLite::Statement& query =
        impl_->statement("SELECT 1 FROM runs WHERE run_id = ? AND state = 'finished'");
    query.bind(1, run_id);
    if (impl_->read([&] { return first_integer(query); })) {
        throw usage_error(
            fmt::format("run {} of '{}' is finished; begin another", run_id, impl_->path));
    }
    end_run(run_id, RunState::running, "");
}

void Store::set_tag(const std::string& run_id, const std::string& tag) {
    impl_->write([&] {
        SQLite::Statement& s = impl_->statement("UPDATE runs SET tag = ? WHERE id = ?");
        s.bind(1, tag);
        s.bind(2, impl_->run_key(run_id));
        s.exec();
    });
}

}  // namespace etalon
