// Optimal partitioning of a series into levels under the biweight loss.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/history/noise_model.h"

namespace etalon::history {

// Indices at which a new level begins, in order: the minimum over all numbers of changes of
//   Σ loss + Σ penalties[i] over the changes i
// (Jackson et al. 2005; for the biweight loss Fearnhead & Rigaill 2019, whose functional pruning is
// replaced by a grid of levels that occur in the series, in steps of a sixth of σ). Every change
// counts, however many there are. A level has two values at least: a single one is a spike.
[[nodiscard]] std::vector<std::size_t> segment(std::span<const double> values,
                                               const NoiseModel& noise,
                                               std::span<const double> penalties);

}  // namespace etalon::history
