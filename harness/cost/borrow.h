// A time from the utilisation (roofline time / measured time) of shapes nearby.
#pragma once

#include <optional>
#include <string>

#include "harness/cost/card.h"
#include "harness/cost/series.h"

namespace etalon::cost {

struct Borrowed {
    Estimate time_ns;    // as uncertain as the times it comes from
    double octaves = 0;  // mean distance of the shapes
    double spread = 0;   // relative, of their utilisations
    std::string from;
};
// From the nearest shapes in log space, one on each side, at most two octaves away; nullopt where
// there is none. `roof_ns`: of the shape asked for.
[[nodiscard]] std::optional<Borrowed> borrow(const Source& source, const OpInfo& info,
                                             const SeriesKey& key, const Position& at,
                                             double roof_ns, const Card& card);

}  // namespace etalon::cost
