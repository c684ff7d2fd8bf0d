#include "harness/report/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/core/text.h"
#include "harness/report/sparkline.h"
#include "harness/report/text.h"
#include "harness/stats/stats.h"

namespace etalon::report {
namespace {

struct Key {
    std::string case_id, gpu, method;
    auto operator<=>(const Key&) const = default;
};

std::optional<double> time_of(const MeasurementRow& row) {
    if (row.m.status != Status::ok || !row.m.norm_time_ns) return std::nullopt;
    const double time = row.m.norm_time_ns->value;
    return std::isfinite(time) && time > 0 ? std::optional(time) : std::nullopt;
}

// The method of a row that has none because nothing was timed is that of the line it would stand
// in: the latest of its case on its GPU.
void adopt_untimed(std::map<Key, std::vector<const MeasurementRow*>>& lines) {
    std::vector<Key> emptied;
    for (auto& [key, rows] : lines) {
        if (!key.method.empty()) continue;
        for (auto& [other, others] : lines) {
            if (other.case_id == key.case_id && other.gpu == key.gpu && !other.method.empty()) {
                others.insert(others.end(), rows.begin(), rows.end());
                emptied.push_back(key);
                break;
            }
        }
    }
    for (const Key& key : emptied) lines.erase(key);
}

HistoryLine line_of(const Key& key, std::vector<const MeasurementRow*> rows,
                    const gate::RunSet& set, std::size_t limit) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
        return std::tie(a->started_at, a->run_id) < std::tie(b->started_at, b->run_id);
    });
    HistoryLine line{key.case_id, key.gpu, key.method, {}, {}};
    std::vector<const MeasurementRow*> firsts;  // of each run
    std::vector<std::vector<double>> times;     // of each run's repeats
    for (const MeasurementRow* row : rows) {
        if (firsts.empty() || firsts.back()->run_id != row->run_id) {
            firsts.push_back(row);
            times.emplace_back();
            line.points.push_back({row->run_id, row->started_at, std::nullopt, row->m.status});
        }
        if (const auto time = time_of(*row)) times.back().push_back(*time);
        if (row->m.status == Status::ok) line.points.back().status = Status::ok;
    }
    const std::size_t begin =
        limit > 0 && line.points.size() > limit ? line.points.size() - limit : 0;
    std::vector<double> logs;
    for (std::size_t i = begin; i < line.points.size(); ++i) {
        if (!times[i].empty()) {
            line.points[i].time_ns = stats::median(times[i]);
            line.last_ns = *line.points[i].time_ns;
            logs.push_back(std::log(line.last_ns));
        }
        if (i == begin) continue;
        const auto before = set.environments.find(firsts[i - 1]->environment_hash);
        const auto after = set.environments.find(firsts[i]->environment_hash);
        if (before == after || before == set.environments.end() ||
            after == set.environments.end()) {
            continue;
        }
        auto changes =
            environment_changes(std::span(&before->second, 1), std::span(&after->second, 1));
        if (!changes.empty()) {
            line.environment.push_back(
                {firsts[i]->run_id, firsts[i]->started_at, std::move(changes)});
        }
    }
    line.points.erase(line.points.begin(),
                      line.points.begin() + static_cast<std::ptrdiff_t>(begin));
    if (!logs.empty()) {
        line.median_ns = std::exp(stats::median(logs));
        line.spread = stats::mad_sigma(logs);
    }
    return line;
}

// Of one or two runs it says nothing.
std::string spread_text(const HistoryLine& line) {
    const auto timed =
        std::count_if(line.points.begin(), line.points.end(),
                      [](const HistoryPoint& point) { return point.time_ns.has_value(); });
    return timed < 3 ? "unknown" : significant(100 * line.spread, 2) + " %";
}

std::string changes_line(const EnvironmentPoint& point) {
    std::vector<std::string> parts;
    for (const FieldChange& change : point.changes) parts.push_back(change.text());
    return join(parts, ", ");
}

}  // namespace

std::vector<HistoryLine> history(const gate::RunSet& set, std::size_t limit) {
    std::map<Key, std::vector<const MeasurementRow*>> lines;
    for (const MeasurementRow& row : set.rows) {
        lines[{row.case_id, row.gpu, row.m.method}].push_back(&row);
    }
    adopt_untimed(lines);
    std::vector<HistoryLine> all;
    for (auto& [key, rows] : lines) all.push_back(line_of(key, std::move(rows), set, limit));
    return all;
}

std::string history_text(const std::vector<HistoryLine>& lines) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const HistoryLine& line = lines[i];
        std::vector<std::optional<double>> times;
        for (const HistoryPoint& point : line.points) times.push_back(point.time_ns);
        // The card and the method are named only where a case has several.
        const bool shared = (i > 0 && lines[i - 1].case_id == line.case_id) ||
                            (i + 1 < lines.size() && lines[i + 1].case_id == line.case_id);
        text += line.case_id;
        if (shared) text += fmt::format(" [{}, {}]", line.gpu, line.method);
        text += "  " + sparkline(times);
        text +=
            line.median_ns > 0
                ? fmt::format("  last {}, median {}, spread {}, {} runs\n", time_text(line.last_ns),
                              time_text(line.median_ns), spread_text(line), line.points.size())
                : fmt::format("  never measured: {}\n",
                              line.points.empty() ? "" : name(line.points.back().status));
        for (const EnvironmentPoint& point : line.environment) {
            text += fmt::format("    {}  {}\n", minute(point.started_at), changes_line(point));
        }
    }
    return text;
}

nlohmann::json history_json(const std::vector<HistoryLine>& lines) {
    using nlohmann::json;
    json all = json::array();
    for (const HistoryLine& line : lines) {
        json points = json::array(), environment = json::array();
        for (const HistoryPoint& point : line.points) {
            points.push_back({{"run_id", point.run_id},
                              {"started_at", point.started_at},
                              {"status", name(point.status)},
                              {"norm_time_ns", number(point.time_ns)}});
        }
        for (const EnvironmentPoint& point : line.environment) {
            json changes = json::array();
            for (const FieldChange& change : point.changes) {
                changes.push_back(
                    {{"field", change.field}, {"before", change.before}, {"after", change.after}});
            }
            environment.push_back(
                {{"run_id", point.run_id}, {"started_at", point.started_at}, {"changes", changes}});
        }
        const bool measured = line.median_ns > 0;
        all.push_back({{"case_id", line.case_id},
                       {"gpu", line.gpu},
                       {"method", line.method},
                       {"last_ns", measured ? number(line.last_ns) : json(nullptr)},
                       {"median_ns", measured ? number(line.median_ns) : json(nullptr)},
                       {"spread", measured ? number(line.spread) : json(nullptr)},
                       {"points", points},
                       {"environment", environment}});
    }
    return {{"format", "etalon.history/1"}, {"cases", all}};
}

}  // namespace etalon::report
