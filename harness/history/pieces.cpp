#include "harness/history/pieces.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::history {
namespace {

constexpr std::size_t least_line = 6;

bool joined(const Piece& a, const Piece& b) {
    return a.shape != b.shape;
}

// Moves the border between a level and a line to where both explain the values best: the search
// for levels has put it at one of the steps by which it imitated the trend.
void settle_border(std::span<const double> values, const NoiseModel& noise, Piece& a, Piece& b) {
    const std::size_t begin = a.range.begin, end = b.range.end;
    const std::size_t least_a = a.shape == Shape::line ? least_line : 2;
    const std::size_t least_b = b.shape == Shape::line ? least_line : 2;
    if (end - begin < least_a + least_b) return;
    Piece best_a = a, best_b = b;
    double best = a.fit.cost + b.fit.cost;
    const auto consider = [&](std::size_t border) {
        Piece left = a, right = b;
        left.range.end = right.range.begin = border;
        left.fit = fit(left.range.of(values), noise, left.shape);
        right.fit = fit(right.range.of(values), noise, right.shape);
        if (left.fit.cost + right.fit.cost < best) {
            best = left.fit.cost + right.fit.cost;
            best_a = left;
            best_b = right;
        }
    };
    const std::size_t stride = std::max<std::size_t>(1, (end - begin) / 24);
    for (std::size_t at = begin + least_a; at + least_b <= end; at += stride) consider(at);
    const std::size_t centre = best_b.range.begin;
    const std::size_t from = std::max(begin + least_a, centre > stride ? centre - stride : 0);
    const std::size_t to = std::min(end - least_b, centre + stride);
    for (std::size_t at = from; at <= to; ++at) consider(at);
    a = best_a;
    b = best_b;
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

double Piece::variance_at(std::size_t index) const {
    double variance = fit.information > 0 ? 1 / fit.information : 0;
    if (shape == Shape::line && fit.slope_information > 0) {
        const double distance =
            static_cast<double>(index - range.begin) - 0.5 * static_cast<double>(range.size() - 1);
        variance += distance * distance / fit.slope_information;
    }
    return variance;
}

std::vector<Piece> pieces_of(std::span<const double> values, std::span<const std::size_t> changes,
                             const NoiseModel& noise, std::span<const double> penalties,
                             double line_penalty, double least_rise) {
    const std::vector<Range> ranges = ranges_of(changes, values.size());
    std::vector<double> cost(ranges.size() + 1, std::numeric_limits<double>::infinity());
    std::vector<std::vector<Piece>> best(ranges.size() + 1);
    cost[0] = 0;
    for (std::size_t last = 0; last < ranges.size(); ++last) {
        // A stretch of trend is imitated by few steps: nothing longer needs to be tried.
        constexpr std::size_t most_steps = 12;
        for (std::size_t first = last + 1 > most_steps ? last + 1 - most_steps : 0; first <= last;
             ++first) {
            const double before = cost[first] + (first > 0 ? penalties[ranges[first].begin] : 0);
            Piece piece{{ranges[first].begin, ranges[last].end}, Shape::level, {}};
            const auto offer = [&](double price) {
                if (before + piece.fit.cost + price >= cost[last + 1]) return;
                cost[last + 1] = before + piece.fit.cost + price;
                best[last + 1] = best[first];
                best[last + 1].push_back(piece);
            };
            if (first == last) {
                piece.fit = fit(piece.range.of(values), noise, Shape::level);
                offer(0);
            }
            if (piece.range.size() < least_line) continue;
            piece.shape = Shape::line;
            piece.fit = fit(piece.range.of(values), noise, Shape::line);
            if (std::fabs(piece.last_level() - piece.first_level()) >= least_rise) {
                offer(line_penalty);
            }
        }
    }
    std::vector<Piece> pieces = best.back();
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
        if (joined(pieces[i], pieces[i + 1]))
            settle_border(values, noise, pieces[i], pieces[i + 1]);
    }
    return pieces;
}

}  // namespace etalon::history
