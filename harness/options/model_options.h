// Options by which commands say what models, split how, serve what.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/op.h"
#include "harness/cost/table.h"

namespace etalon::cli {

struct ModelOptions {
    std::vector<std::string> models;
    std::string kv = "bf16", scales = "dynamic";
    std::vector<std::int64_t> tp = {1}, batch = {1, 4, 16, 64}, isl = {1024}, osl = {1024};
    std::int64_t ep = 1, chunk = 0;

    void add_to(CLI::App& command);
    // Any option but --model given?
    [[nodiscard]] bool any() const;
    // Throws a usage Error for what is not a model, a precision or a layout. `precisions`: empty is
    // bf16.
    [[nodiscard]] cost::Grid grid(const std::vector<std::string>& precisions) const;

   private:
    std::vector<const CLI::Option*> added_;
};

// Cases of this build that the table of the grid needs, each once, in the order of the steps: every
// provider of the ops that exist, and a vendor's first heuristic for `--impl framework`.
[[nodiscard]] std::vector<Case> llm_cases(const cost::Grid& grid, const Registry& registry,
                                          DeviceKind kind);

// `etalon sweep ...` that measures them.
[[nodiscard]] std::string sweep_command(const cost::Grid& grid,
                                        const std::vector<std::string>& models,
                                        const std::string& database);

}  // namespace etalon::cli
