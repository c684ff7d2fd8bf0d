// The sweep: run each case of a list, store each as it is made.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/op.h"
#include "harness/measure/case_runner.h"
#include "harness/store/store.h"

namespace etalon {

struct SweepOptions {
    std::string suite = "quick";
    std::vector<std::string> include, exclude;  // as in CaseFilter; kept with the run
    MeasureOptions measure;
    std::optional<double> budget_s;  // wall time of the whole sweep
    std::string tag;
    // Let providers choose among their algorithms afresh, and not as they did for the latest run
    // under the same driver and libraries.
    bool choose_again = false;
};
// What is kept with a run, so that a resumed one goes on as it began.
[[nodiscard]] std::string to_json(const SweepOptions& options);
// Throws a usage Error when the text is not what to_json writes.
[[nodiscard]] SweepOptions options_from_json(const std::string& text);

struct SweepEvent {
    std::size_t done = 0, total = 0;
    const Measurement* measurement = nullptr;  // null before the first case
    std::string next;                          // case about to run; empty at the end
    double elapsed_s = 0, eta_s = 0;
};

struct SweepResult {
    std::string run_id;
    RunState state = RunState::finished;
    std::string why_left;  // "interrupted", "budget spent", "device lost"; empty when finished
    std::size_t ok = 0, unsupported = 0, failed = 0, incorrect = 0, left = 0;
    double clock_lo_mhz = 0, clock_hi_mhz = 0;  // how far the clock at rest wandered
    // What the clocks that a case was seen at would have done to its raw time: (f_hi / f_lo)^e − 1,
    // and the case for which that is most. Of this sitting.
    double raw_effect = 0;
    std::string raw_effect_case;
    // Where the wall time of this sitting went. busy_s: the device was executing, flushes and load
    // included; 0 where the timer does not see it.
    double wall_s = 0, busy_s = 0, prepare_s = 0, check_s = 0, time_s = 0, store_s = 0;
    bool device_lost = false;  // a new process can go on: the device's context is gone
};
// The gravest of what happened: incorrect, then failed, then cases left.
[[nodiscard]] ExitCode exit_code(const SweepResult& result);

// The identity of where a run on this device is made.
[[nodiscard]] Environment describe_environment(Device& device);

// Begins a run of these cases and returns its id.
[[nodiscard]] std::string begin_sweep(Device& device, Store& store, const std::vector<Case>& cases,
                                      const SweepOptions& options);

// Takes up an unfinished run. `run` is an id or a unique prefix; empty is the latest unfinished one
// of this device. Throws a usage Error when there is none, when it is finished, or when this
// environment is not the one it was begun in (the fields that differ are named).
[[nodiscard]] Run find_unfinished(Device& device, const Store& store, const std::string& run);

// Runs what is pending of a run. `stop` set (ctrl-C) finishes the case in flight and leaves a
// resumable run.
[[nodiscard]] SweepResult run_sweep(const Registry& registry, Device& device, Store& store,
                                    const std::string& run_id, const SweepOptions& options,
                                    const std::atomic<bool>& stop,
                                    const std::function<void(const SweepEvent&)>& on_event);

}  // namespace etalon
