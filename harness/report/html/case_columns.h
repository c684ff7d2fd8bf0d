// The cases of a run as columns: ten thousand of them in two megabytes of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "harness/report/report.h"

namespace etalon::report {

// Six significant digits: more than any interval allows, and half the bytes. null for NaN and Inf.
[[nodiscard]] nlohmann::json compact(double value);

// [value, lo, hi]; null where there is none.
[[nodiscard]] nlohmann::json triple(const std::optional<Estimate>& estimate);

// Bars of a small histogram, one character each, '0' (none) to 'z' (the fullest bar), and the range
// they span. Empty for no samples.
struct Bars {
    std::string heights;
    double least = 0, greatest = 0;
};
[[nodiscard]] Bars bars_of(std::span<const double> values);

// An object of equally long arrays. `baseline` and `reason` are indices, −1 for none: of a case in
// the same columns, of a text in `reasons`.
[[nodiscard]] nlohmann::json case_columns(const Store& store, const Report& report);

}  // namespace etalon::report
