#include "harness/report/html/case_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "harness/report/text.h"
#include "harness/stats/stats.h"

namespace etalon::report {
namespace {

using nlohmann::json;

// Small enough for a card beside the pointer, fine enough to show two modes.
constexpr std::size_t most_bars = 24;
constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";

// Times at the reference clock, in which the rested and the loaded rounds fall together.
std::vector<double> durations_of(const Store& store, const Report& report, const ReportCell& cell) {
    if (cell.status != Status::ok) return {};
    const std::vector<Sample> samples = store.samples(report.run.run_id, cell.case_id);
    Measurement of;
    of.elasticity = cell.elasticity;
    return stats::normalised_durations(samples, of, report.environment.reference_clock_mhz);
}

json if_positive(double value) {
    return value > 0 ? compact(value) : json(nullptr);
}

}  // namespace

json compact(double value) {
    if (!std::isfinite(value)) return nullptr;
    const double rounded = std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
    // Whole numbers are written without ".0".
    if (std::fabs(rounded) < 1e15 && rounded == std::floor(rounded)) {
        return static_cast<std::int64_t>(rounded);
    }
    return rounded;
}

json triple(const std::optional<Estimate>& estimate) {
    if (!estimate) return nullptr;
    return json::array({compact(estimate->value), compact(estimate->lo), compact(estimate->hi)});
}

Bars bars_of(std::span<const double> values) {
    Bars bars;
    std::vector<double> sound;
    for (const double value : values) {
        if (std::isfinite(value)) sound.push_back(value);
    }
    if (sound.empty()) return bars;
    const auto [least, greatest] = std::minmax_element(sound.begin(), sound.end());
    bars.least = *least;
    bars.greatest = *greatest;
    const std::size_t count = bars.least == bars.greatest ? 1 : std::min(most_bars, sound.size());
    std::vector<std::size_t> filled(count);
    for (const double value : sound) {
        const double place = (value - bars.least) / (bars.greatest - bars.least);
        const auto at = count == 1 ? 0 : static_cast<std::size_t>(place * double(count));
        ++filled[std::min(at, count - 1)];
    }
    const std::size_t fullest = *std::max_element(filled.begin(), filled.end());
    for (const std::size_t each : filled) {
        // A single sample must not vanish beside a full bar.
        const std::size_t height = (each * (digits.size() - 1) + fullest - 1) / fullest;
        bars.heights += digits[height];
    }
    return bars;
}

json case_columns(const Store& store, const Report& report) {
    std::map<std::string, std::size_t> place;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) place.try_emplace(cell.case_id, 0);
        }
    }
    // Numbered as written below.
    std::size_t next = 0;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) place[cell.case_id] = next++;
        }
    }
    json columns = {{"reasons", json::array()}};
    for (const char* name :
         {"id", "status", "reason", "time", "norm", "ratio", "baseline", "elasticity", "clock",
          "flop", "bytes", "bars", "bars_from", "bars_to", "samples"}) {
        columns[name] = json::array();
    }
    std::map<std::string, std::size_t> reasons;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) {
                int reason = -1;
                if (!cell.reason.empty()) {
                    const auto [at, fresh] = reasons.try_emplace(cell.reason, reasons.size());
                    if (fresh) columns["reasons"].push_back(cell.reason);
                    reason = static_cast<int>(at->second);
                }
                const auto base =
                    cell.ratio ? place.find(cell.ratio->baseline_case_id) : place.end();
                const std::vector<double> durations = durations_of(store, report, cell);
                const Bars bars = bars_of(durations);
                columns["id"].push_back(cell.case_id);
                columns["status"].push_back(name(cell.status));
                columns["reason"].push_back(reason);
                columns["time"].push_back(triple(cell.time_ns));
                columns["norm"].push_back(triple(cell.norm_time_ns));
                columns["ratio"].push_back(
                    triple(cell.ratio ? std::optional(cell.ratio->ratio) : std::nullopt));
                columns["baseline"].push_back(base == place.end() ? -1
                                                                  : static_cast<int>(base->second));
                columns["elasticity"].push_back(triple(cell.elasticity));
                columns["clock"].push_back(if_positive(cell.clock_mhz));
                columns["flop"].push_back(if_positive(cell.flop));
                columns["bytes"].push_back(if_positive(cell.bytes_min));
                columns["bars"].push_back(bars.heights);
                columns["bars_from"].push_back(if_positive(bars.least));
                columns["bars_to"].push_back(if_positive(bars.greatest));
                columns["samples"].push_back(durations.size());
            }
        }
    }
    return columns;
}

}  // namespace etalon::report
