// Options by which programs and commands choose cases.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bench/op.h"
#include "harness/options/model_options.h"

namespace etalon::cli {

struct CaseOptions {
    std::string suite;               // empty: the command's default
    std::vector<std::string> cases;  // exact ids, instead of a suite
    std::vector<std::string> filter, exclude;
    std::vector<std::string> ops, precisions, providers;
    ModelOptions model;  // of the suite `llm`, which is made from them

    void add_to(CLI::App& command);
    // Checked cases of this kind of device, in order. Throws a usage Error for an unknown name and
    // where nothing is left.
    [[nodiscard]] std::vector<Case> choose(const Registry& registry, DeviceKind kind) const;
    [[nodiscard]] std::string suite_name() const;
};

// Their ids, one a line, or as JSON of this format.
void print_cases(const std::vector<Case>& cases, const std::string& json_format);

}  // namespace etalon::cli
