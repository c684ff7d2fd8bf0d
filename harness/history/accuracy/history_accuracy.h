// How right the detector of harness/history is, on series with a known truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/history/accuracy/tally.h"

namespace etalon::accuracy {

// Steady series of 200 values: the share that gets any point or drift.
[[nodiscard]] std::vector<Check> steady_series(std::uint64_t seed, std::size_t trials);

// A 1 % step after 200 nights; the detector is asked anew every night, and a change counts as found
// on the first night that shows a point of its direction, dated ten nights before it at most.
[[nodiscard]] std::vector<Check> step_of_one_percent(std::uint64_t seed, std::size_t trials);

struct Mixed {
    std::string table;  // Markdown: a row for each kind of noise, and all together
    std::vector<Check> checks;
};
// Precision, recall and F1 with a tolerance of one night, and the delay. Changes are at least
// `contrast` × noise; no method can date smaller ones to a night.
[[nodiscard]] Mixed mixed_series(std::uint64_t seed, std::size_t series_of_each_kind,
                                 double contrast, bool checked);

}  // namespace etalon::accuracy
