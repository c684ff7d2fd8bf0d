#include "harness/cost/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace etalon::cost {
namespace {

double log2_ratio(std::int64_t a, std::int64_t b) {
    return std::fabs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

// Between two readings at x0 < x < x1: linear in t or √t. How far that is from the power law
// through the same two points is what the interpolation may be off.
Reading between(const Reading& a, double x0, const Reading& b, double x1, double x, bool root) {
    const double w = (x - x0) / (x1 - x0);
    const auto mix = [&](double low, double high) {
        if (!root) return low + w * (high - low);
        const double mean = std::sqrt(low) + w * (std::sqrt(high) - std::sqrt(low));
        return mean * mean;
    };
    Reading out;
    out.time_ns = {mix(a.time_ns.value, b.time_ns.value), mix(a.time_ns.lo, b.time_ns.lo),
                   mix(a.time_ns.hi, b.time_ns.hi)};
    const double v = x0 > 0 ? std::log(x / x0) / std::log(x1 / x0) : w;
    const double power =
        std::exp((1 - v) * std::log(a.time_ns.value) + v * std::log(b.time_ns.value));
    out.uncertainty = std::max(
        {a.uncertainty, b.uncertainty, std::fabs(std::log(out.time_ns.value / power)) / 2});
    return out;
}

}  // namespace

void Series::add(const Position& at, const Estimate& time_ns) {
    const auto [found, fresh] = lines_[at[0]].try_emplace(at[1], time_ns);
    const Estimate& had = found->second;
    if (!fresh &&
        std::tie(time_ns.value, time_ns.lo, time_ns.hi) < std::tie(had.value, had.lo, had.hi)) {
        found->second = time_ns;
    }
}

std::optional<Estimate> Series::at(const Position& position) const {
    const auto line = lines_.find(position[0]);
    if (line == lines_.end()) return std::nullopt;
    const auto found = line->second.find(position[1]);
    if (found == line->second.end()) return std::nullopt;
    return found->second;
}

Reading Series::read(const Position& at, bool square_root) const {
    // Along the second axis, within one line.
    const auto along = [&](std::int64_t first, const Line& line) {
        const std::int64_t x = at[1];
        auto above = line.lower_bound(x);
        if (above != line.end() && above->first == x) {
            return Reading{.time_ns = above->second, .at = {first, x}, .exact = true};
        }
        if (above == line.begin() || above == line.end()) {
            if (above == line.end()) --above;
            return Reading{.time_ns = above->second,
                           .at = {first, above->first},
                           .octaves = log2_ratio(above->first, x)};
        }
        const auto below = std::prev(above);
        Reading out = between({.time_ns = below->second}, static_cast<double>(below->first),
                              {.time_ns = above->second}, static_cast<double>(above->first),
                              static_cast<double>(x), square_root);
        out.at = {first, x};
        return out;
    };
    auto above = lines_.lower_bound(at[0]);
    if (above != lines_.end() && above->first == at[0]) return along(above->first, above->second);
    if (above == lines_.begin() || above == lines_.end()) {
        if (above == lines_.end()) --above;
        Reading out = along(above->first, above->second);
        out.exact = false;
        out.octaves = std::hypot(out.octaves, log2_ratio(above->first, at[0]));
        return out;
    }
    const auto below = std::prev(above);
    const Reading a = along(below->first, below->second), b = along(above->first, above->second);
    if (a.octaves > 0 || b.octaves > 0) {
        // Not inside on one of the sides: the nearer reading as it stands.
        Reading out = a.octaves <= b.octaves ? a : b;
        out.exact = false;
        out.octaves = std::hypot(out.octaves, log2_ratio(out.at[0], at[0]));
        return out;
    }
    Reading out = between(a, static_cast<double>(below->first), b,
                          static_cast<double>(above->first), static_cast<double>(at[0]), false);
    out.at = at;
    return out;
}

SeriesKey series_key(const OpInfo& info, const std::vector<Axis>& axes) {
    SeriesKey key;
    for (std::size_t i = 0; i < info.shape.size(); ++i) key.shape[i] = axis_of(axes, info.shape[i]);
    for (std::size_t i = 0; i < info.exact.size(); ++i) key.exact[i] = axis_of(axes, info.exact[i]);
    return key;
}

Position position_of(const OpInfo& info, const std::vector<Axis>& axes) {
    Position at{};
    for (std::size_t i = 0; i < at.size(); ++i) {
        if (*info.along[i] != '\0') at[i] = axis_of(axes, info.along[i]);
    }
    return at;
}

std::vector<Axis> axes_at(const OpInfo& info, const SeriesKey& key, const Position& at) {
    std::vector<Axis> axes;
    for (const char* name : info.axes) {
        const std::string_view text = name;
        const auto take = [&](const auto& names, const auto& values) {
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (text == names[i]) axes.push_back({name, values[i]});
            }
        };
        take(info.along, at);
        take(info.shape, key.shape);
        take(info.exact, key.exact);
    }
    return axes;
}

std::string axes_text(const OpInfo& info, const std::vector<Axis>& axes) {
    std::string out;
    for (const char* name : info.axes) {
        const std::int64_t value = axis_of(axes, name);
        const bool optional = std::string_view(name) == "cached" ||
                              std::string_view(name) == "window" ||
                              std::string_view(name) == "value_dim";
        if (optional && value == 0) continue;
        out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
    }
    return out;
}

}  // namespace etalon::cost
