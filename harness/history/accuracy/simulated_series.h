// Nightly series with a known truth.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "harness/stats/simulation.h"

namespace etalon::accuracy {

enum class Kind {
    normal,
    heavy_tailed,    // Student's t, 3 degrees of freedom, its quartiles those of the normal
    bimodal,         // one night in four in a second mode 2.5 σ away
    autocorrelated,  // AR(1), ρ = 0.3
    outliers,        // one night in 33 a spike of 3 to 50 %
    missing_nights,  // 15 % of them, and ten in a row
    constant_runs,   // 60 % of the nights equal to the last digit
    drift            // a trend over 40 to 100 nights instead of the steps
};
inline constexpr std::array all_kinds = {
    Kind::normal,   Kind::heavy_tailed,   Kind::bimodal,       Kind::autocorrelated,
    Kind::outliers, Kind::missing_nights, Kind::constant_runs, Kind::drift};
[[nodiscard]] std::string_view name(Kind kind);

struct TrueChange {
    std::size_t at = 0;  // index of the first value after it
    double step = 0;     // log
};

struct SimulatedSeries {
    std::vector<double> logs;
    std::vector<TrueChange> changes;
    std::size_t drift_first = 0, drift_last = 0;  // both 0: none
    double sigma = 0;
};

// `n` values about 0 without any change.
[[nodiscard]] std::vector<double> noise(stats::Simulation& random, Kind kind, std::size_t n,
                                        double sigma);

// 120 to 300 nights with none to three changes of 0.5 to 10 % in noise of 0.2 to 3 % (both uniform
// on a log scale), at least 12 nights apart; each change is at least `least_contrast` × noise.
[[nodiscard]] SimulatedSeries mixed(stats::Simulation& random, Kind kind, double least_contrast);

}  // namespace etalon::accuracy
