// Measured times of one provider, arranged for looking up between them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {

inline constexpr std::size_t most_shape_axes = 3, most_exact_axes = 4;

// What tells one series from another: values of OpInfo::shape and OpInfo::exact.
struct SeriesKey {
    std::array<std::int64_t, most_exact_axes> exact{};
    std::array<std::int64_t, most_shape_axes> shape{};
    auto operator<=>(const SeriesKey&) const = default;
};

// Where along OpInfo::along a time was measured; the first is 0 where there is one such axis.
using Position = std::array<std::int64_t, 2>;

struct Reading {
    Estimate time_ns;
    Position at{};           // where it holds: the position asked for, if that is inside
    bool exact = false;      // measured there
    double uncertainty = 0;  // of the interpolation, relative
    double octaves = 0;      // from `at` to the position asked for
};

// Times over positions of one shape.
class Series {
   public:
    void add(const Position& at, const Estimate& time_ns);  // of two at one place, the shorter
    [[nodiscard]] Reading read(const Position& at, bool square_root) const;
    [[nodiscard]] std::optional<Estimate> at(const Position& position) const;
    [[nodiscard]] const auto& lines() const { return lines_; }

   private:
    using Line = std::map<std::int64_t, Estimate>;
    std::map<std::int64_t, Line> lines_;
};

// All series of one provider, variant, precision and L2 mode.
struct Source {
    Precision precision = Precision::bf16;
    std::string provider, variant;
    bool hot = false;
    std::map<SeriesKey, Series> series;
};

[[nodiscard]] SeriesKey series_key(const OpInfo& info, const std::vector<Axis>& axes);
[[nodiscard]] Position position_of(const OpInfo& info, const std::vector<Axis>& axes);
// The axes of a place in a series, in the order of the table.
[[nodiscard]] std::vector<Axis> axes_at(const OpInfo& info, const SeriesKey& key,
                                        const Position& at);
[[nodiscard]] std::string axes_text(const OpInfo& info, const std::vector<Axis>& axes);

}  // namespace etalon::cost
