// The sweep: expand a suite into cases, run each, store each as it is made.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/op.h"
#include "harness/store/store.h"

namespace etalon {

// A named list of axis grids, read from TOML (bench/suites/*.toml; the format is described at the
// top of bench/suites/README.md).
struct Suite {
    std::string name;
    std::string description;
    std::vector<Case> cases;  // in file order, no case twice
};

// Where suites are looked for: $ETALON_SUITES, beside the program, the installed share folder, the
// source tree. `name_or_path` is a suite name or a path to a TOML file.
[[nodiscard]] Suite load_suite(const std::string& name_or_path, const Registry& registry,
                               DeviceKind kind);
[[nodiscard]] std::vector<std::string> suite_names();

// Keeps cases whose id matches any include (all if none) and no exclude. A pattern with only glob
// characters is a glob over the whole id (`gemm/*/cublaslt*`); `re:...` or a pattern between
// slashes is an ECMAScript regular expression searched in the id.
struct CaseFilter {
    std::vector<std::string> include;
    std::vector<std::string> exclude;
    [[nodiscard]] bool matches(const std::string& case_id) const;  // throws usage on a bad pattern
};

struct SweepOptions {
    std::string suite = "quick";
    CaseFilter filter;
    double precision = 0.005;  // half-width of the 95 % interval of the reported median
    int min_samples = 15;
    int max_samples = 64;
    double case_budget_ms = 400;     // device time for one case's samples
    std::optional<double> budget_s;  // wall time of the whole sweep
    std::uint64_t seed = 1;
    std::string tag;
    bool check = true;  // tests of the harness itself may leave it out; the CLI cannot
};

struct SweepEvent {
    std::size_t done = 0, total = 0;
    const Measurement* measurement = nullptr;  // null at start and end
    double elapsed_s = 0, eta_s = 0;
};

struct SweepResult {
    std::string run_id;
    RunState state = RunState::finished;
    std::size_t ok = 0, unsupported = 0, failed = 0, incorrect = 0, left = 0;
    double clock_lo_mhz = 0, clock_hi_mhz = 0;  // how far the clock wandered
};

// Runs `cases` (already filtered) and stores them. `stop` set (ctrl-C) finishes the case in flight
// and leaves a resumable run. `resume` names a run to go on with: its pending cases are run.
[[nodiscard]] SweepResult run_sweep(const Registry& registry, Device& device, Store& store,
                                    const std::vector<Case>& cases, const SweepOptions& options,
                                    const std::optional<std::string>& resume,
                                    const std::atomic<bool>& stop,
                                    const std::function<void(const SweepEvent&)>& on_event);

// One case: prepare, check, measure, check again. Never throws for what the case itself did wrong;
// that is a status with its reason.
class CaseRunner {
   public:
    CaseRunner(const Registry& registry, Device& device, const SweepOptions& options);
    ~CaseRunner();
    [[nodiscard]] Measurement run(const Case& key);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace etalon
