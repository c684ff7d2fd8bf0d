// A series as one line of block characters.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace etalon::report {

// One character a value, ▁ the least to █ the greatest; `·` where there is none (also for NaN and
// Inf). The range shown is at least `least_range` of the median's size, so that noise of a tenth of
// a percent does not look like mountains. Equal values are drawn in the middle.
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> values,
                                    double least_range = 0.02);

}  // namespace etalon::report
