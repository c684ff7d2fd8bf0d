// What counts as a change: the options that gate and compare share.
#pragma once

#include <CLI/CLI.hpp>

#include "harness/gate/compare.h"

namespace etalon::cli {

struct CompareFlags {
    double least_effect_percent = 0.5;
    double fdr = 0.01;

    void add_to(CLI::App& command);
    [[nodiscard]] gate::CompareOptions values() const;
};

}  // namespace etalon::cli
