#include "harness/history/accuracy/simulated_series.h"

#include <algorithm>
#include <cmath>

namespace etalon::accuracy {
namespace {

double log_uniform(stats::Simulation& random, double low, double high) {
    return std::exp(random.uniform(std::log(low), std::log(high)));
}

std::size_t whole(stats::Simulation& random, std::size_t low, std::size_t high) {
    return low + static_cast<std::size_t>(random.uniform() * static_cast<double>(high - low + 1));
}

double student3(stats::Simulation& random) {
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(random.normal(), 2);
    constexpr double quartile_ratio = 0.6745 / 0.7649;
    return quartile_ratio * random.normal() / std::sqrt(squares / 3);
}

// Leaves nights out; changes move to the index of the first value that is still there.
void lose_nights(stats::Simulation& random, SimulatedSeries& series) {
    const std::size_t n = series.logs.size();
    const std::size_t gap = whole(random, 0, n - 10);
    std::vector<double> kept;
    std::vector<std::size_t> new_index(n + 1);
    for (std::size_t i = 0; i < n; ++i) {
        new_index[i] = kept.size();
        const bool lost = (i >= gap && i < gap + 10) || random.uniform() < 0.15;
        if (!lost) kept.push_back(series.logs[i]);
    }
    for (TrueChange& change : series.changes) change.at = new_index[change.at];
    series.logs = std::move(kept);
}

}  // namespace

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::normal:
            return "normal";
        case Kind::heavy_tailed:
            return "heavy-tailed (t, 3 degrees)";
        case Kind::bimodal:
            return "bimodal (25 % at 2.5 σ)";
        case Kind::autocorrelated:
            return "autocorrelated (ρ 0.3)";
        case Kind::outliers:
            return "outliers (3 %)";
        case Kind::missing_nights:
            return "missing nights (15 % and a gap)";
        case Kind::constant_runs:
            return "constant runs (60 % equal)";
        case Kind::drift:
            return "slow drift";
    }
    return "?";
}

std::vector<double> noise(stats::Simulation& random, Kind kind, std::size_t n, double sigma) {
    std::vector<double> values(n);
    constexpr double rho = 0.3;
    double last = random.normal();
    for (double& value : values) {
        switch (kind) {
            case Kind::heavy_tailed:
                value = sigma * student3(random);
                break;
            case Kind::bimodal: {
                const bool second = random.uniform() < 0.25;
                value = sigma * (0.5 * random.normal() + (second ? 2.5 : 0));
                break;
            }
            case Kind::autocorrelated:
                value = sigma * last;
                last = rho * last + std::sqrt(1 - rho * rho) * random.normal();
                break;
            case Kind::outliers:
                value = sigma * random.normal();
                if (random.uniform() < 0.03) value += random.uniform(0.03, 0.5);
                break;
            case Kind::constant_runs:
                value = random.uniform() < 0.6 ? 0 : sigma * random.normal();
                break;
            case Kind::normal:
            case Kind::missing_nights:
            case Kind::drift:
                value = sigma * random.normal();
                break;
        }
    }
    return values;
}

SimulatedSeries mixed(stats::Simulation& random, Kind kind, double least_contrast) {
    constexpr double least_step = 0.005, most_step = 0.10;
    constexpr std::size_t least_length = 12;
    SimulatedSeries series;
    const std::size_t n = whole(random, 120, 300);
    do {
        series.sigma = log_uniform(random, 0.002, 0.03);
    } while (least_contrast * series.sigma > 0.9 * most_step);
    series.logs = noise(random, kind, n, series.sigma);
    if (kind == Kind::drift) {
        const std::size_t length = whole(random, 40, 100);
        series.drift_first = whole(random, 0, n - length);
        series.drift_last = series.drift_first + length - 1;
        const double total =
            (random.uniform() < 0.5 ? -1 : 1) *
            std::max(random.uniform(4, 8) * series.sigma, log_uniform(random, 0.01, most_step));
        for (std::size_t i = series.drift_first; i < n; ++i) {
            const auto into = static_cast<double>(std::min(i, series.drift_last));
            series.logs[i] += total * (into - static_cast<double>(series.drift_first)) /
                              static_cast<double>(length - 1);
        }
        return series;
    }
    std::vector<std::size_t> places;
    for (std::size_t wanted = whole(random, 0, 3), tries = 0; places.size() < wanted && tries < 99;
         ++tries) {
        const std::size_t at = whole(random, least_length, n - least_length);
        const bool clear = std::all_of(places.begin(), places.end(), [&](std::size_t other) {
            return at >= other + least_length || other >= at + least_length;
        });
        if (clear) places.push_back(at);
    }
    std::sort(places.begin(), places.end());
    for (const std::size_t at : places) {
        const double size =
            log_uniform(random, std::max(least_step, least_contrast * series.sigma), most_step);
        const double step = std::log1p(random.uniform() < 0.5 ? size : -size);
        series.changes.push_back({at, step});
        for (std::size_t i = at; i < n; ++i) series.logs[i] += step;
    }
    if (kind == Kind::missing_nights) lose_nights(random, series);
    return series;
}

}  // namespace etalon::accuracy
