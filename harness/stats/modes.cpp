#include "harness/stats/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "harness/stats/stats.h"

namespace etalon::stats {
namespace {

constexpr double least_share = 0.1;
constexpr std::size_t least_values = 4;
constexpr double least_gap = 0.01;
constexpr double least_steps = 4;
constexpr double least_separation = 6;
constexpr double least_purity = 0.9;

struct Spread {
    double mean = 0, variance = 0;
};

Spread spread(std::span<const double> values) {
    Spread s;
    const auto n = static_cast<double>(values.size());
    for (const double value : values) s.mean += value / n;
    for (const double value : values) s.variance += (value - s.mean) * (value - s.mean);
    s.variance /= std::max(1.0, n - 1);
    return s;
}

// Number of values on the left of the best cut of sorted values.
std::size_t best_cut(std::span<const double> sorted) {
    const auto n = static_cast<double>(sorted.size());
    double total = 0;
    for (const double value : sorted) total += value;
    double left = 0, best = -std::numeric_limits<double>::infinity();
    std::size_t cut = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        left += sorted[i - 1];
        const auto here = static_cast<double>(i);
        const double apart = left / here - (total - left) / (n - here);
        const double between = here * (n - here) * apart * apart;
        if (between > best) {
            best = between;
            cut = i;
        }
    }
    return cut;
}

}  // namespace

Modes modes(std::span<const double> times_ns, double quantum_ns) {
    const std::size_t least = std::max(
        least_values,
        static_cast<std::size_t>(std::ceil(least_share * static_cast<double>(times_ns.size()))));
    if (times_ns.size() < 2 * least) return {};
    std::vector<double> sorted(times_ns.begin(), times_ns.end());
    std::sort(sorted.begin(), sorted.end());
    if (!(sorted.front() > 0)) return {};
    std::vector<double> logs;
    for (const double time : sorted) logs.push_back(std::log(time));
    const std::size_t cut = best_cut(logs);
    if (cut < least || sorted.size() - cut < least) return {};

    const std::span<const double> all(logs);
    const Spread a = spread(all.first(cut)), b = spread(all.subspan(cut));
    // A timer that ticks in steps leaves a class of equal values: it is not sharper than a step.
    const double step = quantum_ns / sorted[cut];
    const double within = std::max(a.variance + b.variance, 2 * step * step / 12);
    const std::span<const double> times(sorted);
    const double fast = median(times.first(cut)), slow = median(times.subspan(cut));
    const bool two = slow - fast >= least_gap * fast && slow - fast >= least_steps * quantum_ns &&
                     std::sqrt(2.0) * (b.mean - a.mean) >= least_separation * std::sqrt(within);
    if (!two) return {};
    const double weight = static_cast<double>(cut) / static_cast<double>(sorted.size());
    return {{{fast, weight}, {slow, 1 - weight}}, (sorted[cut - 1] + sorted[cut]) / 2};
}

bool follows(const Modes& modes, std::span<const double> times_ns, std::span<const int> level) {
    if (modes.modes.empty()) return false;
    struct Count {
        std::size_t fast = 0, slow = 0;
    };
    std::map<int, Count> levels;
    for (std::size_t i = 0; i < times_ns.size(); ++i) {
        Count& count = levels[level[i]];
        (times_ns[i] < modes.boundary_ns ? count.fast : count.slow) += 1;
    }
    std::size_t kept = 0, mostly_fast = 0;
    for (const auto& [value, count] : levels) {
        kept += std::max(count.fast, count.slow);
        mostly_fast += count.fast > count.slow ? 1 : 0;
    }
    return static_cast<double>(kept) >= least_purity * static_cast<double>(times_ns.size()) &&
           mostly_fast > 0 && mostly_fast < levels.size();
}

std::string to_json(const Modes& modes, const std::string& factor) {
    if (modes.modes.empty()) return "";
    std::string list;
    for (const Mode& mode : modes.modes) {
        list += fmt::format(R"({}{{"time_ns":{:.1f},"weight":{:.3f}}})", list.empty() ? "" : ",",
                            mode.time_ns, mode.weight);
    }
    return fmt::format(R"({{"modes":[{}],"follows":"{}"}})", list, factor);
}

std::string modes_text(const std::string& json) {
    const nlohmann::json told = nlohmann::json::parse(json, nullptr, false);
    if (!told.is_object() || !told.contains("modes") || told["modes"].size() != 2) return "";
    const auto& list = told["modes"];
    const std::string factor = told.value("follows", "");
    return fmt::format(
        ", two speeds: {} ({:.0f} %) and {}{}", human_time(list[0].value("time_ns", 0.0)),
        100 * list[0].value("weight", 0.0), human_time(list[1].value("time_ns", 0.0)),
        factor.empty() ? "" : ", following the " + factor);
}

}  // namespace etalon::stats
