// What the store's tests share: records with every field set, damage, and what a fault says.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "harness/core/error.h"
#include "harness/store/store.h"
#include "harness/store/store_impl.h"
#include "harness/testing/scratch.h"

namespace etalon::store_test {

inline void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << bytes;
    ASSERT_TRUE(out.flush());
}

inline Environment environment(const std::string& driver = "580.159.04") {
    Environment e;
    e.device_kind = "cuda";
    e.gpu = "NVIDIA H200";
    e.sm_count = 132;
    e.memory_bytes = 150754820096;
    e.vbios = "96.00.BC.00.01";
    e.driver = driver;
    e.cuda_runtime = "13.0";
    e.cublas = "13.1.0";
    e.cudnn = "9.14.0";
    e.power_limit_w = 700;
    e.ecc = "on";
    e.mig = "off";
    e.host_cpu = "Xeon \"Platinum\"";
    e.os = "Debian 12";
    e.etalon_version = "0.1.0";
    e.reference_clock_mhz = 1980;
    e.extra = {{"onednn", "3.2"}, {"timer", "µs"}};
    return e;
}

inline Run run(const std::string& id, const std::string& started_at = "2026-12-01T17:04:05.123Z") {
    Run r;
    r.run_id = id;
    r.started_at = started_at;
    r.suite = "nightly";
    r.device = "cuda:0";
    r.revision = "1a2b3c4d5e6f";
    r.host_name = "h200-3";
    r.tag = "";
    r.options = R"({"seed":1})";
    r.floor_ns = 1250.5;
    r.quantum_ns = 32;
    return r;
}

inline std::string case_id(int i) {
    return "gemm/bf16/m=" + std::to_string(i + 1) + ",n=64,k=14336/cublaslt/cold";
}

inline Measurement measurement(int i, const std::string& measured_at = "2026-12-01T17:04:06.000Z") {
    Measurement m;
    m.key = store::parse_stored_case(case_id(i));
    for (int s = 0; s < 64; ++s) m.samples.push_back({26720.0 + 32 * ((s * 7 + i) % 20), 1634.5});
    m.time_ns = Estimate{27040, 27008, 27072};
    m.norm_time_ns = Estimate{22300.1234567, 22290.5, 22310.25};
    m.elasticity = Estimate{0.79, 0.75, 0.83};
    m.clock_mhz = 1634.5;
    m.flop = 2.0 * (i + 1) * 64 * 14336;
    m.bytes_min = 1835008 + i;
    m.conditions = {.power_w = 431.7,
                    .temperature_c = 51,
                    .reported_clock_mhz = 1980,
                    .memory_clock_mhz = 3201,
                    .event_reasons = 0x8000000000000004ULL,
                    .other_processes = 1,
                    .ecc_errors = 0};
    m.method = "events/1";
    m.stop_reason = "precision";
    m.modes = R"({"modes":[]})";
    m.description = R"({"algorithm":"67","workspace_bytes":33554432})";
    m.distribution = "normal";
    m.seed = 0xfedcba9876543210ULL;
    m.error = 1.25e-3;
    m.wall_ms = 123.456;
    m.measured_at = measured_at;
    return m;
}

// A sound file with one finished run of `count` measurements and a ratio.
inline void make_store(const std::string& path, int count, const std::string& run_id = "run-a") {
    Store store = Store::open(path, Store::Mode::create);
    std::vector<std::string> plan;
    for (int i = 0; i < count; ++i) plan.push_back(case_id(i));
    store.begin_run(environment(), run(run_id), plan);
    for (int i = 0; i < count; ++i) store.add(run_id, measurement(i));
    store.add(run_id, Ratio{case_id(0), case_id(1), {1.25, 1.2, 1.3}});
    store.end_run(run_id, RunState::finished, "2026-12-01T18:00:00.000Z");
}

inline std::string content(const Run& r) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", r.run_id, r.started_at,
                       r.finished_at, name(r.state), r.suite, r.device, r.revision, r.host_name,
                       r.tag, r.options, r.floor_ns, r.quantum_ns, r.environment_hash);
}

// What a raw statement does to a file, as damage would.
inline void execute(const std::string& path, const std::string& sql) {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA foreign_keys = OFF");
    database.exec(sql);
}

// Everything that a file says, for comparing two of them.
inline std::string dump(const std::string& path) {
    const Store store = Store::open(path, Store::Mode::read);
    std::string out;
    const auto append = [&](std::string_view text) { out += text; };
    for (const Run& r : store.runs()) {
        out += content(r) + store.environment(r.environment_hash).hash();
        for (const std::string& id : store.plan(r.run_id)) {
            out += id + "\n";
            for (const Sample& s : store.samples(r.run_id, id)) {
                out += std::to_string(s.duration_ns) + " " + std::to_string(s.clock_mhz) + "\n";
            }
        }
    }
    store.export_table("measurements", "csv", append);
    store.export_table("ratios", "csv", append);
    return out;
}

// The one line that `body` fails with, and that it is one with this code.
template <typename Body>
std::string error_of(ExitCode code, Body&& body) {
    try {
        body();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        const std::string line = error.what();
        EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        return line;
    }
    ADD_FAILURE() << "no Error was thrown";
    return {};
}

}  // namespace etalon::store_test
