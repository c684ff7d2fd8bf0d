// How right the whole gate is: a night of a thousand cases, a first look, suspects measured again,
// a second look.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/history/accuracy/tally.h"

namespace etalon::accuracy {

// Identical nights, and slowdowns of 2 % and 1 % put into cases of 0.3 % noise, one at a time.
// The cases' noise is what the H200's recorded sweeps show for their sizes (gate::class_sigma):
// 600 cases at 0.3 %, 250 at 0.6 %, 150 at 1.5 %.
[[nodiscard]] std::vector<Check> nights_of_a_thousand_cases(std::uint64_t seed, std::size_t nights);

// A 1 % slowdown of a case with 1 % noise, night after night: found by the second look, or by the
// history, where a night on which the case was a suspect stands with the mean of its five runs.
[[nodiscard]] std::vector<Check> one_percent_in_noise_of_one(std::uint64_t seed,
                                                             std::size_t trials);

}  // namespace etalon::accuracy
