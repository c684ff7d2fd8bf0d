#include "harness/history/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::history {
namespace {

constexpr std::size_t least_width = 5;  // steps from drift_first to drift_last

void refit(Piece& piece, std::span<const double> values, const NoiseModel& noise) {
    std::vector<double> shape;
    shape.reserve(piece.range.size());
    for (std::size_t i = piece.range.begin; i < piece.range.end; ++i) {
        shape.push_back(piece.shape_at(i));
    }
    piece.fit = fit_rise(piece.range.of(values), shape, noise);
}

// The best drift within a range: from a coarse grid of its first and last value to a fine one.
Piece best_drift(const Range& range, std::span<const double> values, const NoiseModel& noise) {
    Piece best{range, true, range.begin, range.end - 1, {}};
    refit(best, values, noise);
    std::vector<Fit> tried = {best.fit};
    const auto consider = [&](std::size_t first, std::size_t last) {
        if (first < range.begin || last >= range.end || last < first + least_width) return;
        Piece piece{range, true, first, last, {}};
        refit(piece, values, noise);
        tried.push_back(piece.fit);
        if (piece.fit.cost < best.fit.cost) best = piece;
    };
    std::size_t stride = std::max<std::size_t>(1, range.size() / 10);
    for (std::size_t first = range.begin; first < range.end; first += stride) {
        for (std::size_t last = range.end - 1; last > first + least_width;
             last = last > stride ? last - stride : 0) {
            consider(first, last);
        }
    }
    while (stride > 1) {
        stride = (stride + 1) / 2;
        const std::size_t first = best.drift_first, last = best.drift_last;
        for (const int a : {-1, 0, 1}) {
            for (const int b : {-1, 0, 1}) {
                consider(first + static_cast<std::size_t>(a) * stride,
                         last + static_cast<std::size_t>(b) * stride);
            }
        }
    }
    best.rise_lo = best.rise_hi = best.fit.rise;
    for (const Fit& fit : tried) {
        // Of three degrees of freedom, the rise and both its dates: the profile is not smooth in
        // the dates, and one degree covered 85 % only.
        constexpr double chi_squared_95 = 7.815;
        const double room = chi_squared_95 - (fit.cost - best.fit.cost);
        if (!(room > 0)) continue;
        const double half = noise.sigma * std::sqrt(room * fit.rise_variance());
        best.rise_lo = std::min(best.rise_lo, fit.rise - half);
        best.rise_hi = std::max(best.rise_hi, fit.rise + half);
    }
    return best;
}

}  // namespace

std::vector<Range> ranges_of(std::span<const std::size_t> changes, std::size_t size) {
    std::vector<Range> ranges;
    std::size_t begin = 0;
    for (const std::size_t at : changes) {
        ranges.push_back({begin, at});
        begin = at;
    }
    ranges.push_back({begin, size});
    return ranges;
}

double Piece::shape_at(std::size_t index) const {
    if (!drifts || index <= drift_first) return 0;
    if (index >= drift_last) return 1;
    return static_cast<double>(index - drift_first) / static_cast<double>(drift_last - drift_first);
}

std::vector<Piece> pieces_of(std::span<const double> values, std::span<const std::size_t> changes,
                             const NoiseModel& noise, std::span<const double> penalties,
                             double drift_penalty, double least_rise) {
    const std::vector<Range> ranges = ranges_of(changes, values.size());
    std::vector<double> cost(ranges.size() + 1, std::numeric_limits<double>::infinity());
    std::vector<std::vector<Piece>> best(ranges.size() + 1);
    cost[0] = 0;
    for (std::size_t last = 0; last < ranges.size(); ++last) {
        // A drift is imitated by few steps: nothing longer needs to be tried.
        constexpr std::size_t most_ranges = 10;
        for (std::size_t first = last + 1 > most_ranges ? last + 1 - most_ranges : 0; first <= last;
             ++first) {
            const double before = cost[first] + (first > 0 ? penalties[ranges[first].begin] : 0);
            const auto offer = [&](const Piece& piece, double price) {
                if (before + piece.fit.cost + price >= cost[last + 1]) return;
                cost[last + 1] = before + piece.fit.cost + price;
                best[last + 1] = best[first];
                best[last + 1].push_back(piece);
            };
            const Range range{ranges[first].begin, ranges[last].end};
            if (first == last) {
                offer({range, false, 0, 0, fit_level(range.of(values), noise)}, 0);
            }
            if (range.size() <= least_width || !std::isfinite(drift_penalty)) continue;
            const Piece drift = best_drift(range, values, noise);
            if (std::fabs(drift.fit.rise) >= least_rise) offer(drift, drift_penalty);
        }
    }
    return best.back();
}

Piece straight(std::span<const double> values, const NoiseModel& noise) {
    Piece piece{{0, values.size()}, true, 0, values.size() - 1, {}};
    refit(piece, values, noise);
    return piece;
}

}  // namespace etalon::history
