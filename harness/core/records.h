// The records that travel between the sweep, the store, the gate and the report. Plain values,
// no CUDA, no SQL.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/case.h"

namespace etalon {

// Version of the measurement method. Histories never mix two values; raise it whenever a change in
// harness/measure or harness/device could move a reported time.
inline constexpr int method_version = 2;

// One timed launch.
struct Sample {
    double duration_ns = 0;
    double clock_mhz = 0;  // effective clock inside the interval; 0 when it could not be read
    bool operator==(const Sample&) const = default;
};

// State of the device around a measurement. NaN where the device cannot tell.
struct Conditions {
    std::optional<double> power_w;
    std::optional<double> temperature_c;
    std::optional<double> reported_clock_mhz;  // NVML's word, kept to be compared with ours
    std::optional<double> memory_clock_mhz;
    std::optional<std::uint64_t> event_reasons;  // NVML clocks event reasons, bit mask
    std::optional<std::int64_t> other_processes;
    std::optional<std::int64_t> ecc_errors;
    bool operator==(const Conditions&) const = default;
};

// Identity of where a run was made. Every field takes part in the hash; `extra` holds the rest
// (keys sorted). Fields the machine cannot know are empty strings or 0.
struct Environment {
    std::string device_kind;  // cuda | host
    std::string gpu;          // "NVIDIA H200", or the CPU model for the host device
    int sm_count = 0;         // cores for the host device
    std::int64_t memory_bytes = 0;
    std::string vbios;
    std::string driver;
    std::string cuda_runtime;
    std::string cublas;
    std::string cudnn;
    double power_limit_w = 0;
    std::string ecc;
    std::string mig;
    std::string host_cpu;
    std::string os;
    std::string etalon_version;  // semantic version, without the git revision
    int method = method_version;
    double reference_clock_mhz = 0;            // f_ref of normalised times
    std::map<std::string, std::string> extra;  // onednn version, timer, compiler, ...
    [[nodiscard]] std::string hash() const;    // 32 hex digits over the canonical text
};

enum class RunState { running, finished, interrupted };
[[nodiscard]] std::string_view name(RunState state);

struct Run {
    std::string run_id;      // globally unique, sorts by time of creation
    std::string started_at;  // UTC, ISO 8601
    std::string finished_at;
    RunState state = RunState::running;
    std::string suite;
    std::string device;    // cuda:0, host
    std::string revision;  // git revision of the build
    std::string host_name;
    std::string tag;
    std::string options;    // JSON: filters, budget, precision asked for, seed
    double floor_ns = 0;    // empty-window time of the timer, measured at start
    double quantum_ns = 0;  // smallest step of the timer
    std::string environment_hash;
};
[[nodiscard]] std::string make_run_id();

enum class Status { ok, unsupported, failed, incorrect };
[[nodiscard]] std::string_view name(Status status);
[[nodiscard]] Status parse_status(std::string_view text);

struct Estimate {
    double value = 0, lo = 0, hi = 0;  // 95 % interval
    bool operator==(const Estimate&) const = default;
};

struct Measurement {
    Case key;
    Status status = Status::ok;
    std::string reason;  // one line; empty for ok
    std::vector<Sample> samples;
    std::optional<Estimate> time_ns;       // median of raw durations
    std::optional<Estimate> norm_time_ns;  // median of t·(f/f_ref)^e
    std::optional<Estimate> elasticity;
    double clock_mhz = 0;  // median effective clock
    double flop = 0;
    double bytes_min = 0;
    Conditions conditions;
    std::string method;        // e.g. "events/1": timer and method version
    std::string stop_reason;   // precision | budget | max-samples
    std::string modes;         // JSON of stats::to_json(Modes); empty: one speed
    std::string description;   // JSON of the provider: algorithm id, workspace bytes, kernels
    std::string distribution;  // "normal"
    std::uint64_t seed = 0;
    double error = 0;         // relative Frobenius error of the checked output
    double wall_ms = 0;       // wall time the case took, checks included
    std::string measured_at;  // UTC
};

// baseline time / our time, over 1 is a win.
struct Ratio {
    std::string case_id;
    std::string baseline_case_id;
    Estimate ratio;
};

}  // namespace etalon
