#include "harness/report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace etalon::report {

std::string sparkline(std::span<const std::optional<double>> values, double least_range) {
    constexpr std::array<std::string_view, 8> levels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::string_view gap = "·";
    const auto known = [](const std::optional<double>& value) {
        return value && std::isfinite(*value);
    };
    std::vector<double> finite;
    for (const auto& value : values) {
        if (known(value)) finite.push_back(*value);
    }
    double low = 0, range = 0;
    if (!finite.empty()) {
        const auto [least, greatest] = std::minmax_element(finite.begin(), finite.end());
        const double middle = *least / 2 + *greatest / 2;
        // Halves first: the difference of two finite values may be infinite.
        const double half =
            std::max(*greatest / 2 - *least / 2, least_range / 2 * std::fabs(middle));
        low = middle - half;
        range = half;
    }
    std::string line;
    for (const auto& value : values) {
        if (!known(value)) {
            line += gap;
            continue;
        }
        const double share = range > 0 ? (*value / 2 - low / 2) / range : 0.5;
        const auto level = static_cast<std::size_t>(
            std::clamp(share * static_cast<double>(levels.size()) + 1e-9, 0.0, 7.0));
        line += levels[level];
    }
    return line;
}

}  // namespace etalon::report
