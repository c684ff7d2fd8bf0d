// Which of several ways to compute one case a vendor's library runs fastest here.
//
// A heuristic's first offer is a guess; a baseline is the best that the library can do. The first
// offer is kept unless another is faster by more than the noise of the look, so that a case does
// not change its algorithm from night to night for nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/device/device.h"

namespace etalon {

inline constexpr double least_gain = 0.02;

struct Choice {
    std::size_t index = 0;  // of the candidate that was chosen
    std::size_t first = 0;  // the first candidate that can be launched
    std::size_t refused = 0;
    double gain = 0;  // time of `first` over time of the fastest, less 1; ≤ 0 when first is fastest
};

// Launches it once. False when it is refused; throws when the device is lost.
[[nodiscard]] bool can_launch(Device& device, const Launch& candidate);

// The first candidate that can be launched; nothing is timed. Throws what the last one threw when
// none can, and at once when the device is lost.
[[nodiscard]] Choice choose_first(Device& device, std::span<const Launch> candidates);

// Times every candidate (median of 5 launches; one launch for a candidate that takes three times as
// long as the fastest so far), then the fastest against the first in alternation (11 launches
// each), and leaves the first only for a gain over least_gain.
[[nodiscard]] Choice choose_fastest(Device& device, L2Mode l2, std::size_t sets,
                                    std::span<const Launch> candidates);

}  // namespace etalon
