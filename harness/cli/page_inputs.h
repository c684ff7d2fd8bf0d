// What a page is given beside the results file.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/html/page_data.h"

namespace etalon::cli {

struct PageFlags {
    std::vector<std::string> compare;
    std::string cost, doctor;

    void add_to(CLI::App& command);
    // A usage Error where one was given that a report of this format has no place for.
    void refuse_for(const std::string& format) const;
    // Reads the files.
    [[nodiscard]] report::PageOptions values(const std::optional<std::string>& run) const;
};

}  // namespace etalon::cli
