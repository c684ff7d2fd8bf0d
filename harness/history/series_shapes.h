// Small series with a known answer, for tests.
#pragma once

#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

namespace etalon::history {

// {{100, 20}, {101, 3}}: a hundred for 20 nights, then 101 for three. As logs.
inline std::vector<double> levels(std::initializer_list<std::pair<double, int>> runs) {
    std::vector<double> logs;
    for (const auto& [time, nights] : runs) {
        logs.insert(logs.end(), static_cast<std::size_t>(nights), std::log(time));
    }
    return logs;
}

inline std::vector<double> log_of(std::initializer_list<double> times) {
    std::vector<double> logs;
    for (const double time : times) logs.push_back(std::log(time));
    return logs;
}

}  // namespace etalon::history
