#include "harness/history/accuracy/history_accuracy.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "harness/history/accuracy/simulated_series.h"
#include "harness/history/detect.h"
#include "harness/stats/stats.h"

namespace etalon::accuracy {
namespace {

using history::detect;
using history::Detection;

// Draws of one trial, the same whatever core it runs on.
stats::Simulation trial(std::uint64_t seed, std::size_t index) {
    return stats::Simulation(seed * 0x9e3779b97f4a7c15ULL + index);
}

bool shows(const Detection& found, std::size_t at, double step) {
    return std::any_of(found.points.begin(), found.points.end(), [&](const auto& point) {
        return (point.ratio.value > 1) == (step > 0) && point.at + 10 >= at;
    });
}

// The first night on which the change shows, counted from 1; nothing within `nights`.
std::optional<std::size_t> night_found(std::span<const double> logs, std::size_t at, double step,
                                       std::size_t nights) {
    for (std::size_t night = 1; night <= nights && at + night <= logs.size(); ++night) {
        if (shows(detect(logs.first(at + night)), at, step)) return night;
    }
    return std::nullopt;
}

struct Score {
    std::size_t truths = 0, found = 0, reported = 0, right = 0;
    std::size_t oracle = 0;  // truths that the best place between known neighbours hits
    std::vector<double> delays;

    void add(const Score& other) {
        truths += other.truths;
        found += other.found;
        reported += other.reported;
        right += other.right;
        oracle += other.oracle;
        delays.insert(delays.end(), other.delays.begin(), other.delays.end());
    }
    [[nodiscard]] double precision() const {
        return reported == 0 ? 1 : static_cast<double>(right) / static_cast<double>(reported);
    }
    [[nodiscard]] double recall() const {
        return truths == 0 ? 1 : static_cast<double>(found) / static_cast<double>(truths);
    }
    [[nodiscard]] double f1() const {
        const double sum = precision() + recall();
        return sum > 0 ? 2 * precision() * recall() / sum : 0;
    }
    [[nodiscard]] std::string delay() const {
        return delays.empty() ? "-" : fmt::format("{:.0f}", stats::median(delays));
    }
};

bool within_a_night(std::size_t a, std::size_t b) {
    return a <= b + 1 && b <= a + 1;
}

// Were the number of changes and all their neighbours known: does the place of least squares lie
// within a night? The bound of what any method can reach on normal noise.
bool oracle_hits(const SimulatedSeries& series, std::size_t index) {
    const auto& changes = series.changes;
    const std::size_t begin = index == 0 ? 0 : changes[index - 1].at;
    const std::size_t end =
        index + 1 == changes.size() ? series.logs.size() : changes[index + 1].at;
    double total = 0, below = 0, best = -1;
    for (std::size_t i = begin; i < end; ++i) total += series.logs[i];
    std::size_t place = begin;
    const auto n = static_cast<double>(end - begin);
    for (std::size_t i = begin + 1; i < end; ++i) {
        below += series.logs[i - 1];
        const auto left = static_cast<double>(i - begin);
        const double gap = below / left - (total - below) / (n - left);
        const double gain = gap * gap * left * (n - left);
        if (gain > best) {
            best = gain;
            place = i;
        }
    }
    return within_a_night(place, changes[index].at);
}

Score score(const SimulatedSeries& series, bool with_delay) {
    const Detection found = detect(series.logs);
    Score s;
    std::vector<bool> used(found.points.size(), false);
    s.reported = found.points.size() + found.drifts.size();
    s.truths = series.changes.size();
    for (std::size_t c = 0; c < series.changes.size(); ++c) {
        const TrueChange& change = series.changes[c];
        s.oracle += oracle_hits(series, c);
        for (std::size_t i = 0; i < found.points.size(); ++i) {
            const auto& point = found.points[i];
            if (used[i] || !within_a_night(point.at, change.at) ||
                (point.ratio.value > 1) != (change.step > 0)) {
                continue;
            }
            used[i] = true;
            ++s.found;
            ++s.right;
            break;
        }
        if (!with_delay) continue;
        // Nights until it first shows; one that never does within 40 counts as 41.
        s.delays.push_back(
            static_cast<double>(night_found(series.logs, change.at, change.step, 40).value_or(41)));
    }
    if (series.drift_last > 0) {
        s.truths = 1;
        // A drift is found by one that shares at least half of its nights.
        bool hit = false;
        for (const auto& drift : found.drifts) {
            const std::size_t from = std::max(drift.first, series.drift_first);
            const std::size_t to = std::min(drift.last, series.drift_last);
            const bool shares =
                to > from && 2 * (to - from) >= series.drift_last - series.drift_first;
            s.right += shares;
            hit = hit || shares;
        }
        s.found = hit;
        s.oracle = 1;
    }
    return s;
}

}  // namespace

std::vector<Check> steady_series(std::uint64_t seed, std::size_t trials) {
    struct Row {
        const char* what;
        Kind kind;
        double sigma, goal;
    };
    constexpr Row rows[] = {
        {"false points: steady series of 200, white noise σ 0.25 %", Kind::normal, 0.0025, 0.01},
        {"false points: steady series of 200, white noise σ 1 %", Kind::normal, 0.01, 0.01},
        {"false points: steady series of 200, AR(1) ρ 0.3, σ 0.25 %", Kind::autocorrelated, 0.0025,
         0.02},
        {"false points: steady series of 200, AR(1) ρ 0.3, σ 1 %", Kind::autocorrelated, 0.01,
         0.02},
    };
    std::vector<Check> checks;
    for (const Row& row : rows) {
        std::vector<char> wrong(trials);
        in_parallel(trials, [&](std::size_t i) {
            stats::Simulation random = trial(seed + checks.size(), i);
            const Detection found = detect(noise(random, row.kind, 200, row.sigma));
            wrong[i] = !found.points.empty() || !found.drifts.empty();
        });
        const auto count = static_cast<double>(std::count(wrong.begin(), wrong.end(), 1));
        checks.push_back({row.what, count / static_cast<double>(trials), row.goal, true, trials});
    }
    return checks;
}

std::vector<Check> step_of_one_percent(std::uint64_t seed, std::size_t trials) {
    struct Row {
        double sigma;
        std::size_t nights;
        double goal;
    };
    constexpr Row rows[] = {
        {0.0025, 2, 0.95}, {0.0025, 3, 0.99}, {0.005, 7, 0.90}, {0.01, 25, 0.90}};
    std::vector<Check> checks;
    for (const Row& row : rows) {
        std::vector<char> hits(trials);
        in_parallel(trials, [&](std::size_t i) {
            stats::Simulation random = trial(seed + 10 + checks.size(), i);
            std::vector<double> logs = noise(random, Kind::normal, 200 + row.nights, row.sigma);
            for (std::size_t t = 200; t < logs.size(); ++t) logs[t] += std::log(1.01);
            // The last night is the likeliest to show it; only if it does not, the others matter.
            hits[i] = shows(detect(logs), 200, 1) ||
                      night_found(logs, 200, 1, row.nights - 1).has_value();
        });
        const auto count = static_cast<double>(std::count(hits.begin(), hits.end(), 1));
        checks.push_back({fmt::format("1 % step, σ {:.3g} %: found within {} nights",
                                      100 * row.sigma, row.nights),
                          count / static_cast<double>(trials), row.goal, false, trials});
    }
    return checks;
}

Mixed mixed_series(std::uint64_t seed, std::size_t series_of_each_kind, double contrast,
                   bool checked) {
    Mixed result;
    result.table =
        "| series | changes | precision | recall | F1 | least squares with the number of changes "
        "known | median delay (nights) |\n|---|---|---|---|---|---|---|\n";
    Score all;
    const auto row = [&](std::string_view what, const Score& s) {
        result.table += fmt::format(
            "| {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {} |\n", what, s.truths, s.precision(),
            s.recall(), s.f1(),
            s.truths == 0 ? 0 : static_cast<double>(s.oracle) / static_cast<double>(s.truths),
            s.delay());
    };
    for (const Kind kind : all_kinds) {
        std::vector<Score> scores(series_of_each_kind);
        in_parallel(series_of_each_kind, [&](std::size_t i) {
            stats::Simulation random = trial(seed + 100 + static_cast<std::uint64_t>(kind), i);
            scores[i] = score(mixed(random, kind, contrast), i % 4 == 0);
        });
        Score sum;
        for (const Score& s : scores) sum.add(s);
        row(name(kind), sum);
        all.add(sum);
    }
    row("**all**", all);
    if (checked) {
        result.checks.push_back({fmt::format("F1 of the mixed set, changes of {:.3g} × noise and "
                                             "more, tolerance one night",
                                             contrast),
                                 all.f1(), 0.9, false, all.truths});
    }
    return result;
}

}  // namespace etalon::accuracy
