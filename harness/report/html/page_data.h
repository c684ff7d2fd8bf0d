// All that the page of a report knows, as one JSON object (etalon.page/1): written into the page,
// read by its scripts, and the answer of `etalon serve` to /api/page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/cost/card.h"
#include "harness/report/html/histories.h"
#include "harness/report/report.h"

namespace etalon::report {

struct PageOptions {
    std::optional<std::string> run;  // id or unique prefix; else the latest
    // Two selections; else the run against the latest earlier one of another environment, or, with
    // none, against the one before it.
    std::optional<std::pair<std::string, std::string>> compare;
    nlohmann::json cost;            // etalon.cost/1, or null
    nlohmann::json doctor;          // etalon.doctor/1, or null
    std::vector<cost::Card> cards;  // for what the data sheet says
    ThinOptions thin;
};

// Of a file without a run: an object whose `run` is null.
[[nodiscard]] nlohmann::json page_data(const Store& store, const PageOptions& options);

// The page itself: one file that fetches nothing.
[[nodiscard]] std::string html_page(const nlohmann::json& data);

// JSON that may stand in an HTML script element: no '<' (so no </script> and no <!--), no line
// separators that older readers stop at, no invalid UTF-8.
[[nodiscard]] std::string json_for_html(const nlohmann::json& value);

}  // namespace etalon::report
