// Many cases, one question each: what share of the answers "changed" is wrong.
#pragma once

#include <span>
#include <vector>

namespace etalon::gate {

// Benjamini & Hochberg (1995) adjusted p-values, in the order given: calling everything at or under
// q a discovery keeps the expected share of false ones at or under q, for independent tests and for
// positively dependent ones (Benjamini & Yekutieli 2001). NaN counts as 1.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p_values);

}  // namespace etalon::gate
