// The cases of a run that lose most to their baselines, or win most.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/report.h"

namespace etalon::report {

struct TopRow {
    std::string case_id, baseline_case_id;
    Estimate ratio;  // baseline time / own time
    std::optional<Estimate> time_ns;
};

struct TopOptions {
    std::size_t most = 20;  // 0: all
    bool best = false;      // else the worst
    std::string pattern;    // glob over case ids; empty: all
};

[[nodiscard]] std::vector<TopRow> top_rows(const Report& report, const TopOptions& options);
[[nodiscard]] std::string top_text(const Report& report, const std::vector<TopRow>& rows);
[[nodiscard]] nlohmann::json top_json(const Report& report,
                                      const std::vector<TopRow>& rows);  // etalon.top/1

}  // namespace etalon::report
