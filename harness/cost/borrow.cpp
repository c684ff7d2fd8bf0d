#include "harness/cost/borrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace etalon::cost {
namespace {

constexpr double most_octaves = 2;

double log2_of(std::int64_t value) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(value, 1)));
}

}  // namespace

std::optional<Borrowed> borrow(const Source& source, const OpInfo& info, const SeriesKey& key,
                               const Position& at, double roof_ns, const Card& card) {
    // The nearest shape on each side: a side is the sign of the step along each shape axis.
    struct Donor {
        double distance = 0;
        int axes_apart = 0;
        Reading reading;
        const SeriesKey* key = nullptr;
    };
    std::map<std::array<int, most_shape_axes>, Donor> donors;
    for (auto each = source.series.lower_bound({key.exact, {}});
         each != source.series.end() && each->first.exact == key.exact; ++each) {
        std::array<int, most_shape_axes> side{};
        double square = 0;
        int apart = 0;
        for (std::size_t i = 0; i < info.shape.size(); ++i) {
            const std::int64_t theirs = each->first.shape[i], ours = key.shape[i];
            if (theirs == ours) continue;
            const double step = log2_of(theirs) - log2_of(ours);
            side[i] = theirs < ours ? -1 : 1;
            square += step * step;
            ++apart;
        }
        if (square > most_octaves * most_octaves) continue;
        const auto known = donors.find(side);
        if (known != donors.end() && known->second.distance * known->second.distance <= square) {
            continue;
        }
        const Reading reading = each->second.read(at, info.square_root);
        const double distance = std::hypot(std::sqrt(square), reading.octaves);
        if (distance > most_octaves) continue;
        if (known != donors.end() && known->second.distance <= distance) continue;
        donors[side] = {distance, apart, reading, &each->first};
    }
    if (donors.empty()) return std::nullopt;

    // Shapes that differ along one axis only tell more than those off in two, unless they are more
    // than half an octave farther.
    std::map<int, double> nearest;
    for (const auto& [side, donor] : donors) {
        const auto [least, fresh] = nearest.try_emplace(donor.axes_apart, donor.distance);
        least->second = std::min(least->second, donor.distance);
    }
    const auto chosen =
        std::min_element(nearest.begin(), nearest.end(), [](const auto& a, const auto& b) {
            return a.second + 0.5 * a.first < b.second + 0.5 * b.first;
        });

    // The mean of log utilisation, weighted by nearness; between two shapes on one line that is
    // linear interpolation in log space.
    double weights = 0, mean = 0, square = 0, below = 0, above = 0, distance = 0;
    std::string from;
    for (const auto& [side, donor] : donors) {
        if (donor.axes_apart != chosen->first) continue;
        const std::vector<Axis> axes = axes_at(info, *donor.key, donor.reading.at);
        const double roof =
            card.roof_ns(least_work(info, source.precision, axes), source.precision);
        const Estimate& time = donor.reading.time_ns;
        const double utilisation = std::log(roof / time.value);
        const double weight = 1 / std::max(donor.distance, 1e-6);
        weights += weight;
        mean += weight * utilisation;
        square += weight * utilisation * utilisation;
        below += weight * (1 - time.lo / time.value);
        above += weight * (time.hi / time.value - 1);
        distance += weight * donor.distance;
        from +=
            fmt::format("{}{}", from.empty() ? "utilisation of " : " and ", axes_text(info, axes));
    }
    mean /= weights;
    distance /= weights;
    const double spread = std::sqrt(std::max(0.0, square / weights - mean * mean));
    Borrowed out{.octaves = distance, .spread = spread, .from = from};
    out.time_ns.value = roof_ns / std::exp(mean);
    out.time_ns.lo = out.time_ns.value * (1 - below / weights);
    out.time_ns.hi = out.time_ns.value * (1 + above / weights);
    return out;
}

}  // namespace etalon::cost
