// One case as the body of a Google Benchmark: prepare, check, time each launch beside the baseline,
// check again, report.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "bench/op.h"
#include "harness/core/error.h"
#include "harness/measure/case_runner.h"

namespace etalon::bench_program {

// Runs the benchmarks of a process one after another. What is prepared for a problem stays until
// another problem's turn: the library calls a benchmark once for each repetition, and more often
// while it looks for a number of iterations.
class Session {
   public:
    Session(const Registry& registry, Device& device)
        : registry_(registry), device_(device), runner_(registry, device, {}) {}

    // Never throws: what goes wrong is the benchmark's error.
    void run(const Case& key, benchmark::State& state);
    // 0, 1 after an incorrect result, 4 after a failed case; an unsupported one is neither.
    [[nodiscard]] ExitCode exit() const { return exit_; }

   private:
    void time(const Case& key, benchmark::State& state);
    // Prepared, and found correct. Throws.
    [[nodiscard]] PreparedCase& ready(const Case& key);

    const Registry& registry_;
    Device& device_;
    CaseRunner runner_;
    Problem problem_;                               // of prepared_
    std::map<std::string, PreparedCase> prepared_;  // by case id; gone before runner_'s tensors
    ExitCode exit_ = ExitCode::ok;
};

}  // namespace etalon::bench_program
