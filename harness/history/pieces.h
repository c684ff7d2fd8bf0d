// A series as a row of pieces: steady levels, and levels that a slow drift joins.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/history/noise_model.h"

namespace etalon::history {

struct Range {
    std::size_t begin = 0, end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
    [[nodiscard]] std::span<const double> of(std::span<const double> values) const {
        return values.subspan(begin, size());
    }
};

// `changes`: where a range begins, in order, without 0.
[[nodiscard]] std::vector<Range> ranges_of(std::span<const std::size_t> changes, std::size_t size);

// Steady, or steady up to drift_first, straight from there to drift_last, and steady again; the
// drift may begin with the piece and end with it.
struct Piece {
    Range range;
    bool drifts = false;
    std::size_t drift_first = 0, drift_last = 0;  // indices into the series
    Fit fit;
    double rise_lo = 0, rise_hi = 0;  // 95 %, by the profile likelihood over first and last
    [[nodiscard]] double shape_at(std::size_t index) const;  // 0 before, 1 after, straight between
    [[nodiscard]] double at(std::size_t index) const { return fit.at(shape_at(index)); }
    [[nodiscard]] double variance_at(std::size_t index) const {
        return fit.variance_at(shape_at(index));
    }
};

// A drift is a change that has a width: neighbouring ranges are joined to one piece where that
// costs less than their levels and the `penalties` (one for each index) of the changes between. It
// costs `drift_penalty`, takes six values at least and rises or falls by `least_rise`.
[[nodiscard]] std::vector<Piece> pieces_of(std::span<const double> values,
                                           std::span<const std::size_t> changes,
                                           const NoiseModel& noise,
                                           std::span<const double> penalties, double drift_penalty,
                                           double least_rise);

// The whole series as one straight line.
[[nodiscard]] Piece straight(std::span<const double> values, const NoiseModel& noise);

}  // namespace etalon::history
