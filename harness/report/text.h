// Figures as people and programs read them: units, four significant digits, never NaN or Inf, the
// same under every locale.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/core/records.h"

namespace etalon::report {

// 12.35 → "12.35"; 123456 → "123500"; 0.00012345 → "0.0001234"; "-" for NaN and Inf.
[[nodiscard]] std::string significant(double value, int digits = 4);
// 12345.6 → "12.35 µs", 18000 → "18.00 µs"; "-" unless positive.
[[nodiscard]] std::string time_text(double time_ns);
// A ratio about 1 as a change: 1.0312 → "+3.12 %".
[[nodiscard]] std::string percent_change(double ratio);
// "+3.12 % (+2.50 to +3.74)"
[[nodiscard]] std::string percent_change(const Estimate& ratio);
// "1.023 (1.017 to 1.029)"
[[nodiscard]] std::string ratio_text(const Estimate& ratio);
// "646.2 TFLOP/s" from FLOP and ns; "3616 GB/s" from bytes and ns. "-" where unknown.
[[nodiscard]] std::string tflops_text(double flop, double time_ns);
[[nodiscard]] std::string gbs_text(double bytes, double time_ns);
// "2026-12-01 17:04"
[[nodiscard]] std::string minute(std::string_view iso8601);

// Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// A cell of a Markdown table or a line of prose there: no line breaks, no bars, no markup and no
// HTML of its own. In code() nothing is special but the backtick and, in a table, the bar.
[[nodiscard]] std::string cell(std::string_view text);
[[nodiscard]] std::string code(std::string_view text, bool in_table = true);

// A field of a CSV: RFC 4180, and led by an apostrophe where a spreadsheet would take it for a
// formula.
[[nodiscard]] std::string csv_field(std::string_view text);

// null for what JSON has no number for.
[[nodiscard]] nlohmann::json number(double value);
[[nodiscard]] nlohmann::json number(const std::optional<double>& value);
// {"value": , "lo": , "hi": } or null.
[[nodiscard]] nlohmann::json interval(const std::optional<Estimate>& estimate);
// Text as JSON takes it: invalid UTF-8 in a reason or a path must not end a report.
[[nodiscard]] std::string dump(const nlohmann::json& value);

}  // namespace etalon::report
