// A series as a row of pieces: steady levels, and lines where a trend explains more than steps do.
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

struct Piece {
    Range range;
    Shape shape = Shape::level;
    Fit fit;
    [[nodiscard]] double at(std::size_t index) const {
        return fit.at(index - range.begin, range.size());
    }
    [[nodiscard]] double first_level() const { return at(range.begin); }
    [[nodiscard]] double last_level() const { return at(range.end - 1); }
    // Variance of the fitted value at an index, in units of σ².
    [[nodiscard]] double variance_at(std::size_t index) const;
};

// Neighbouring ranges are joined to one line where that costs less than their levels and the
// penalty of each change between (`penalties`: one for each index); a line costs `line_penalty`,
// spans six values at least and rises or falls by `least_rise`.
[[nodiscard]] std::vector<Piece> pieces_of(std::span<const double> values,
                                           std::span<const std::size_t> changes,
                                           const NoiseModel& noise,
                                           std::span<const double> penalties, double line_penalty,
                                           double least_rise);

}  // namespace etalon::history
