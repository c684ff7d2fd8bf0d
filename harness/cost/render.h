// The cost table, a step and a fleet as text, Markdown, CSV and JSON (etalon.cost/1).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cost/explain.h"
#include "harness/cost/fleet.h"
#include "harness/cost/table.h"

namespace etalon::cost {

enum class Format { text, markdown, csv, json };
[[nodiscard]] Format parse_format(std::string_view text);

// `command`: what measures the missing operators; printed where there are any.
[[nodiscard]] std::string render(const CostTable& table, Format format, const std::string& command);

// The operators of steps, each with its source, time, share, bound and interval.
[[nodiscard]] std::string render(const std::vector<Explained>& steps, Format format,
                                 const std::string& command);

[[nodiscard]] std::string render(const std::vector<FleetReport>& fleets, Format format);

// A grid of texts: aligned columns for a terminal, or a Markdown table.
struct TextTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::vector<bool> left;  // columns that are text
    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string markdown() const;
};
// Objects of one list as CSV: keys of the first as the header, RFC 4180, empty for null.
[[nodiscard]] std::string csv_of(const nlohmann::ordered_json& rows);

}  // namespace etalon::cost
