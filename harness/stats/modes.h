// Kernels with two speeds: an algorithm that takes 26.7 µs in one launch and 27.6 in the next.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace etalon::stats {

struct Mode {
    double time_ns = 0;  // median
    double weight = 0;   // share of the values, 0 to 1
};
struct Modes {
    std::vector<Mode> modes;  // two, the faster first; empty: one speed
    double boundary_ns = 0;   // between the two
};

// The split into two classes that leaves the least variance within them (Otsu 1979, on logs). They
// are two speeds where each has a tenth of the values and at least four, their medians are 1 % and
// four timer steps apart, and Ashman's D (1994), √2 |µ₂ − µ₁| / √(σ₁² + σ₂²), is at least 6; a
// normal distribution cut in two has 2.7, a uniform one 3.5.
[[nodiscard]] Modes modes(std::span<const double> times_ns, double quantum_ns = 0);

// Does the speed follow a factor? `level[i]` is the factor's value for times_ns[i]. True where
// each level but a tenth of the values keeps to one speed, and not all levels to the same.
[[nodiscard]] bool follows(const Modes& modes, std::span<const double> times_ns,
                           std::span<const int> level);

// {"modes":[{"time_ns":26700.0,"weight":0.75}, ...],"follows":"buffer set"}; empty for one speed.
// `factor`: what the speed follows, or "".
[[nodiscard]] std::string to_json(const Modes& modes, const std::string& factor);

// ", two speeds: 26.7 µs (75 %) and 27.6 µs, following the buffer set" of that JSON.
[[nodiscard]] std::string modes_text(const std::string& json);

}  // namespace etalon::stats
