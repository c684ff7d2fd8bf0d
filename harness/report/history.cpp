#include "harness/report/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/core/text.h"
#include "harness/report/sparkline.h"
#include "harness/report/text.h"
#include "harness/stats/stats.h"

namespace etalon::report {
namespace {

using history::Cause;
using history::DatedDrift;
using history::DatedPoint;
using history::Line;

// The latest `limit` nights of a line.
struct Shown {
    std::span<const history::Night> nights;
    std::size_t first_run = 0;
    std::vector<double> times_ns;
    double last_ns = 0, median_ns = 0, spread = 0;  // 0: never measured

    Shown(const Line& line, std::size_t limit) : nights(line.nights) {
        if (limit > 0 && nights.size() > limit) nights = nights.last(limit);
        if (!nights.empty()) first_run = nights.front().run;
        std::vector<double> logs;
        for (const history::Night& night : nights) {
            if (!std::isfinite(night.time_ns)) continue;
            times_ns.push_back(night.time_ns);
            logs.push_back(std::log(night.time_ns));
        }
        if (logs.empty()) return;
        last_ns = times_ns.back();
        median_ns = std::exp(stats::median(logs));
        spread = stats::mad_sigma(logs);
    }
    // Nothing is said of what came with the first night shown.
    [[nodiscard]] bool holds(std::size_t run) const { return run > first_run; }
};

std::string when(const NightValues& values, std::size_t run) {
    return minute(values.runs[run].started_at);
}

std::string causes_text(const std::vector<Cause>& causes, const NightValues& values,
                        std::size_t run) {
    if (causes.empty()) return "nothing recorded changed";
    std::vector<std::string> parts;
    for (const Cause& cause : causes) {
        const std::string text = cause.change.text();
        parts.push_back(cause.run == run ? text
                                         : fmt::format("{} ({})", text, when(values, cause.run)));
    }
    return join(parts, ", ");
}

std::string point_text(const DatedPoint& point, const NightValues& values) {
    std::string text = fmt::format(
        "{} {}  {} -> {}", point.point.ratio.value > 1 ? "slower" : "faster",
        percent_change(point.point.ratio), time_text(point.before_ns), time_text(point.after_ns));
    if (point.earliest_run != point.latest_run) {
        text += fmt::format("; between {} and {}", when(values, point.earliest_run),
                            when(values, point.latest_run));
    }
    return text + "; " + causes_text(point.causes, values, point.run);
}

std::string drift_text(const DatedDrift& drift, const NightValues& values) {
    return fmt::format("drifts {} {} until {}, {} a run",
                       drift.drift.ratio.value > 1 ? "slower" : "faster",
                       percent_change(drift.drift.ratio), when(values, drift.last_run),
                       percent_change(1 + drift.drift.per_value));
}

std::string few_text(const Line& line) {
    return fmt::format("{} of at least {} nights: too few to tell a change from noise",
                       line.timed.size(), history::least_values);
}

// What is to be said of a line under its first, by run.
std::string under_text(const Line& line, const Shown& shown, const NightValues& values) {
    std::multimap<std::size_t, std::string> all;
    for (const DatedPoint& point : line.points) {
        if (shown.holds(point.run)) all.emplace(point.run, point_text(point, values));
    }
    for (const DatedDrift& drift : line.drifts) {
        if (shown.holds(drift.last_run)) all.emplace(drift.first_run, drift_text(drift, values));
    }
    std::map<std::size_t, std::vector<std::string>> environment;
    for (const Cause& cause : line.environment) {
        // A revision changes from night to night; it is told where the time changed too.
        if (shown.holds(cause.run) && cause.change.field != "revision") {
            environment[cause.run].push_back(cause.change.text());
        }
    }
    for (const auto& [run, parts] : environment) all.emplace(run, join(parts, ", "));
    if (line.found.last_stands_apart) {
        const std::size_t last = line.timed.back();
        const double ratio =
            std::exp(std::log(line.nights[last].time_ns) - line.found.fitted.back());
        all.emplace(line.nights[last].run,
                    fmt::format("stands apart by {}: the next night tells a spike from a change",
                                percent_change(ratio)));
    }
    std::string text;
    for (const auto& [run, entry] : all) {
        text += fmt::format("    {}  {}\n", when(values, run), entry);
    }
    if (!line.found.decidable && !line.timed.empty()) text += "    " + few_text(line) + "\n";
    if (line.left_out > 0) {
        text += fmt::format("    left out: {} stored times that are not positive numbers\n",
                            line.left_out);
    }
    return text;
}

// Of one or two runs it says nothing.
std::string spread_text(const Shown& shown) {
    return shown.times_ns.size() < 3 ? "unknown" : significant(100 * shown.spread, 2) + " %";
}

nlohmann::json causes_json(const std::vector<Cause>& causes, const NightValues& values) {
    nlohmann::json all = nlohmann::json::array();
    for (const Cause& cause : causes) {
        all.push_back({{"field", cause.change.field},
                       {"before", cause.change.before},
                       {"after", cause.change.after},
                       {"run_id", values.runs[cause.run].run_id},
                       {"started_at", values.runs[cause.run].started_at}});
    }
    return all;
}

nlohmann::json point_json(const DatedPoint& point, const NightValues& values) {
    const Run& run = values.runs[point.run];
    return {{"run_id", run.run_id},
            {"started_at", run.started_at},
            {"earliest", values.runs[point.earliest_run].started_at},
            {"latest", values.runs[point.latest_run].started_at},
            {"ratio", interval(point.point.ratio)},
            {"before_ns", number(point.before_ns)},
            {"after_ns", number(point.after_ns)},
            {"causes", causes_json(point.causes, values)}};
}

nlohmann::json drift_json(const DatedDrift& drift, const NightValues& values) {
    return {{"first", values.runs[drift.first_run].started_at},
            {"last", values.runs[drift.last_run].started_at},
            {"ratio", interval(drift.drift.ratio)},
            {"per_run", number(drift.drift.per_value)}};
}

// Environment changes as the format has had them: one entry a run.
nlohmann::json environment_json(const Line& line, const Shown& shown, const NightValues& values) {
    std::map<std::size_t, nlohmann::json> by_run;
    for (const Cause& cause : line.environment) {
        if (!shown.holds(cause.run)) continue;
        by_run[cause.run].push_back({{"field", cause.change.field},
                                     {"before", cause.change.before},
                                     {"after", cause.change.after}});
    }
    nlohmann::json all = nlohmann::json::array();
    for (auto& [run, changes] : by_run) {
        all.push_back({{"run_id", values.runs[run].run_id},
                       {"started_at", values.runs[run].started_at},
                       {"changes", std::move(changes)}});
    }
    return all;
}

nlohmann::json line_json(const Line& line, const NightValues& values, std::size_t limit) {
    using nlohmann::json;
    const Shown shown(line, limit);
    json nights = json::array(), points = json::array(), drifts = json::array();
    json outliers = json::array();
    for (const history::Night& night : shown.nights) {
        nights.push_back({{"run_id", values.runs[night.run].run_id},
                          {"started_at", values.runs[night.run].started_at},
                          {"status", name(night.status)},
                          {"norm_time_ns", number(night.time_ns)}});
    }
    for (const DatedPoint& point : line.points) points.push_back(point_json(point, values));
    for (const DatedDrift& drift : line.drifts) drifts.push_back(drift_json(drift, values));
    for (const std::size_t value : line.found.outliers) {
        outliers.push_back(values.runs[line.nights[line.timed[value]].run].run_id);
    }
    const bool measured = shown.median_ns > 0, decidable = line.found.decidable;
    return {{"case_id", line.case_id},
            {"gpu", line.gpu},
            {"method", line.method},
            {"last_ns", measured ? number(shown.last_ns) : json(nullptr)},
            {"median_ns", measured ? number(shown.median_ns) : json(nullptr)},
            {"spread", measured ? number(shown.spread) : json(nullptr)},
            {"points", nights},
            {"environment", environment_json(line, shown, values)},
            {"decidable", decidable},
            {"changes", points},
            {"drifts", drifts},
            {"outliers", outliers},
            {"candidate", line.found.last_stands_apart},
            {"sigma", decidable ? number(line.found.sigma) : json(nullptr)},
            {"autocorrelation", decidable ? number(line.found.rho) : json(nullptr)},
            {"left_out", line.left_out}};
}

std::string cluster_title(const history::Cluster& cluster) {
    const char* direction = cluster.slower ? "slower" : "faster";
    if (cluster.members.size() == 1) {
        return fmt::format("{} {}  {}", direction, percent_change(cluster.ratio), cluster.name);
    }
    return fmt::format("{} {}  {} of {} {}cases", direction, percent_change(cluster.ratio),
                       cluster.members.size(), cluster.alike,
                       cluster.name.empty() ? "" : cluster.name + " ");
}

}  // namespace

std::string history_text(const std::vector<Line>& lines, const NightValues& values,
                         std::size_t limit) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Line& line = lines[i];
        const Shown shown(line, limit);
        std::vector<std::optional<double>> times;
        for (const history::Night& night : shown.nights) {
            times.push_back(std::isfinite(night.time_ns) ? std::optional(night.time_ns)
                                                         : std::nullopt);
        }
        // The card and the method are named only where a case has several.
        const bool shared = (i > 0 && lines[i - 1].case_id == line.case_id) ||
                            (i + 1 < lines.size() && lines[i + 1].case_id == line.case_id);
        text += line.case_id;
        if (shared) text += fmt::format(" [{}, {}]", line.gpu, line.method);
        text += "  " + sparkline(times);
        text += shown.median_ns > 0
                    ? fmt::format("  last {}, median {}, spread {}, {} runs\n",
                                  time_text(shown.last_ns), time_text(shown.median_ns),
                                  spread_text(shown), shown.nights.size())
                    : fmt::format("  never measured: {}\n",
                                  shown.nights.empty() ? "" : name(shown.nights.back().status));
        text += under_text(line, shown, values);
    }
    return text;
}

nlohmann::json history_json(const std::vector<Line>& lines, const NightValues& values,
                            std::size_t limit) {
    nlohmann::json all = nlohmann::json::array();
    for (const Line& line : lines) all.push_back(line_json(line, values, limit));
    return {{"format", "etalon.history/1"}, {"cases", all}};
}

std::string findings_text(const std::vector<Line>& lines,
                          const std::vector<history::Cluster>& clusters, const NightValues& values,
                          std::size_t most) {
    std::string text;
    for (const history::Cluster& cluster : clusters) {
        text += fmt::format("{}  {}\n    {}\n", when(values, cluster.run), cluster_title(cluster),
                            cluster.machine
                                ? "the vendor's kernels moved too and nothing recorded changed: "
                                  "the machine (see etalon doctor)"
                                : causes_text(cluster.causes, values, cluster.run));
        if (cluster.members.size() == 1) continue;
        const std::size_t shown =
            most == 0 ? cluster.members.size() : std::min(most, cluster.members.size());
        for (std::size_t i = 0; i < shown; ++i) {
            const Line& line = lines[cluster.members[i].line];
            const DatedPoint& point = line.points[cluster.members[i].point];
            text += fmt::format("    {:<30} {}\n", percent_change(point.point.ratio), line.case_id);
        }
        if (shown < cluster.members.size()) {
            text += fmt::format("    ... and {} more; --json has all\n",
                                cluster.members.size() - shown);
        }
    }
    std::size_t drifts = 0, few = 0, left_out = 0;
    for (const Line& line : lines) {
        few += !line.found.decidable;
        left_out += static_cast<std::size_t>(line.left_out);
        for (const DatedDrift& drift : line.drifts) {
            ++drifts;
            text += fmt::format("{}  {}  {}\n", when(values, drift.first_run),
                                drift_text(drift, values), line.case_id);
        }
    }
    text += fmt::format("{} histories over {} runs: {} findings, {} drifts", lines.size(),
                        values.runs.size(), clusters.size(), drifts);
    if (few > 0) text += fmt::format("; {} have under {} nights", few, history::least_values);
    if (left_out > 0) text += fmt::format("; {} stored times are no positive numbers", left_out);
    return text + "\n";
}

nlohmann::json findings_json(const std::vector<Line>& lines,
                             const std::vector<history::Cluster>& clusters,
                             const NightValues& values) {
    using nlohmann::json;
    json all = json::array(), drifts = json::array();
    for (const history::Cluster& cluster : clusters) {
        json members = json::array();
        for (const history::Member& member : cluster.members) {
            json one = point_json(lines[member.line].points[member.point], values);
            one["case_id"] = lines[member.line].case_id;
            members.push_back(std::move(one));
        }
        const Run& run = values.runs[cluster.run];
        all.push_back({{"run_id", run.run_id},
                       {"started_at", run.started_at},
                       {"direction", cluster.slower ? "slower" : "faster"},
                       {"ratio", interval(cluster.ratio)},
                       {"shared", cluster.name},
                       {"moved", cluster.members.size()},
                       {"alike", cluster.alike},
                       {"machine", cluster.machine},
                       {"causes", causes_json(cluster.causes, values)},
                       {"members", members}});
    }
    std::size_t undecidable = 0;
    for (const Line& line : lines) {
        undecidable += !line.found.decidable;
        for (const DatedDrift& drift : line.drifts) {
            json one = drift_json(drift, values);
            one["case_id"] = line.case_id;
            drifts.push_back(std::move(one));
        }
    }
    return {
        {"format", "etalon.findings/1"}, {"histories", lines.size()}, {"runs", values.runs.size()},
        {"undecidable", undecidable},    {"findings", all},           {"drifts", drifts}};
}

}  // namespace etalon::report
