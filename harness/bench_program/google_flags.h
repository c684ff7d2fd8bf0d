// Google Benchmark's own flags, declared beside ours: one help, one line for a bad value, the
// nearest flag for a misspelt one. The library itself prints its whole usage and exits with 0 or 1.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/core/case.h"

namespace etalon::bench_program {

struct GoogleFlags {
    std::string filter;
    std::string out;
    std::string out_format = "json";
    bool list_tests = false;

    // Each also takes its value from the environment, as the library does (BENCHMARK_FILTER, ...).
    void add_to(CLI::App& app);
    // The cases whose id --benchmark_filter matches. Throws a usage Error where none is left. Done
    // here, on the bare id, because the library would match the decorated name (case_names.h).
    [[nodiscard]] std::vector<Case> keep(const std::vector<Case>& cases) const;
    [[nodiscard]] bool has_min_time() const { return min_time_->count() > 0; }
    // Hands the parsed flags to the library. `program` is argv[0]: the library keeps the pointer.
    // Throws a usage Error for what it does not take, and where --benchmark_out cannot be written.
    void initialize(char* program) const;

   private:
    CLI::Option* add(CLI::App& app, const std::string& flag, const std::string& help);
    std::vector<const CLI::Option*> passed_on_;
    CLI::Option* min_time_ = nullptr;
};

}  // namespace etalon::bench_program
