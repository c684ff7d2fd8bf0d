#include "harness/report/html/histories.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/report/html/case_columns.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

using history::Line;
using nlohmann::json;

// A value of the page is the nearest whole number of these from its base: 0.001 %.
constexpr double step = 1e-5;

// How much there is to see, the most first.
double interest(const Line& line, const std::set<std::string>& flagged) {
    double score = flagged.contains(line.case_id) ? 1e6 : 0;
    for (const history::DatedPoint& point : line.points) {
        score += 1 + std::fabs(std::log(point.point.ratio.value));
    }
    score += static_cast<double>(line.drifts.size());
    return score + (line.found.last_stands_apart ? 10 : 0);
}

// Nights to keep of a thinned line: evenly spaced, and both sides of each change.
std::vector<std::size_t> kept_nights(const Line& line, std::size_t few) {
    const std::size_t count = line.nights.size();
    std::set<std::size_t> kept;
    for (std::size_t i = 0; i < few && count > 0; ++i) {
        kept.insert(few == 1 ? count - 1 : i * (count - 1) / (few - 1));
    }
    for (const history::ChangePoint& point : line.found.points) {
        kept.insert(line.timed[point.at]);
        kept.insert(line.timed[point.at - 1]);
    }
    return {kept.begin(), kept.end()};
}

json causes_json(const std::vector<history::Cause>& causes) {
    json all = json::array();
    for (const history::Cause& cause : causes) {
        all.push_back(json::array({cause.run, cause.change.text()}));
    }
    return all;
}

json points_json(const Line& line) {
    json all = json::array();
    for (const history::DatedPoint& point : line.points) {
        all.push_back({{"run", point.run},
                       {"from", point.earliest_run},
                       {"to", point.latest_run},
                       {"ratio", triple(point.point.ratio)},
                       {"before_ns", compact(point.before_ns)},
                       {"after_ns", compact(point.after_ns)},
                       {"causes", causes_json(point.causes)}});
    }
    return all;
}

json drifts_json(const Line& line) {
    json all = json::array();
    for (const history::DatedDrift& drift : line.drifts) {
        all.push_back({{"from", drift.first_run},
                       {"to", drift.last_run},
                       {"ratio", triple(drift.drift.ratio)}});
    }
    return all;
}

double base_of(const Line& line) {
    for (const history::Night& night : line.nights) {
        if (std::isfinite(night.time_ns) && night.time_ns > 0) return night.time_ns;
    }
    return 0;
}

json value_of(const history::Night& night, double base_ns) {
    if (!(base_ns > 0) || !std::isfinite(night.time_ns)) return nullptr;
    const double steps = std::round((night.time_ns / base_ns - 1) / step);
    return std::fabs(steps) < 1e15 ? json(static_cast<std::int64_t>(steps)) : json(nullptr);
}

}  // namespace

json histories_json(const std::vector<Line>& lines, const std::set<std::string>& flagged,
                    const ThinOptions& options) {
    std::vector<double> scores;
    for (const Line& line : lines) scores.push_back(interest(line, flagged));
    std::vector<std::size_t> order(lines.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    std::vector<bool> whole(lines.size());
    for (std::size_t i = 0; i < std::min(options.whole, order.size()); ++i) whole[order[i]] = true;

    std::map<std::vector<std::uint32_t>, std::size_t> lists;
    json out = {{"night_lists", json::array()}, {"lines", json::array()}, {"step", step}};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Line& line = lines[i];
        const bool thin = !whole[i] && line.nights.size() > options.few;
        std::vector<std::size_t> kept;
        if (thin) {
            kept = kept_nights(line, options.few);
        } else {
            for (std::size_t n = 0; n < line.nights.size(); ++n) kept.push_back(n);
        }
        const double base_ns = base_of(line);
        std::vector<std::uint32_t> nights;
        json values = json::array();
        for (const std::size_t n : kept) {
            nights.push_back(line.nights[n].run);
            values.push_back(value_of(line.nights[n], base_ns));
        }
        const auto [list, fresh] = lists.try_emplace(nights, lists.size());
        if (fresh) out["night_lists"].push_back(nights);
        json one = {{"id", line.case_id},          {"gpu", line.gpu},
                    {"method", line.method},       {"nights", list->second},
                    {"base_ns", compact(base_ns)}, {"values", std::move(values)},
                    {"of", line.nights.size()}};
        if (!line.points.empty()) one["points"] = points_json(line);
        if (!line.drifts.empty()) one["drifts"] = drifts_json(line);
        if (line.found.last_stands_apart) one["apart"] = true;
        if (line.found.decidable) one["sigma"] = compact(line.found.sigma);
        if (line.left_out > 0) one["left_out"] = line.left_out;
        out["lines"].push_back(std::move(one));
    }
    return out;
}

json clusters_json(const std::vector<history::Cluster>& clusters, std::size_t most) {
    json all = json::array();
    for (const history::Cluster& cluster : clusters) {
        json members = json::array();
        for (std::size_t i = 0; i < std::min(most, cluster.members.size()); ++i) {
            members.push_back(json::array({cluster.members[i].line, cluster.members[i].point}));
        }
        all.push_back({{"run", cluster.run},
                       {"slower", cluster.slower},
                       {"ratio", triple(cluster.ratio)},
                       {"name", cluster.name},
                       {"moved", cluster.members.size()},
                       {"alike", cluster.alike},
                       {"machine", cluster.machine},
                       {"causes", causes_json(cluster.causes)},
                       {"members", std::move(members)}});
    }
    return all;
}

json runs_json(const NightValues& values) {
    json all = json::array();
    std::map<std::string, std::size_t> latest;  // by GPU model
    for (std::size_t i = 0; i < values.runs.size(); ++i) {
        const Run& run = values.runs[i];
        const Environment& now = values.environments.at(run.environment_hash);
        json changes = json::array();
        if (const auto before = latest.find(now.gpu); before != latest.end()) {
            const Run& other = values.runs[before->second];
            for (const FieldChange& change :
                 environment_changes(std::vector{values.environments.at(other.environment_hash)},
                                     std::vector{now})) {
                changes.push_back(change.text());
            }
            if (other.revision != run.revision) {
                changes.push_back("revision " + other.revision + " -> " + run.revision);
            }
        }
        latest[now.gpu] = i;
        json one = {{"id", run.run_id},
                    {"at", run.started_at},
                    {"state", name(run.state)},
                    {"suite", run.suite},
                    {"revision", run.revision},
                    {"tag", run.tag},
                    {"host", run.host_name},
                    {"gpu", now.gpu},
                    {"environment", run.environment_hash.substr(0, 8)}};
        if (!changes.empty()) one["changes"] = std::move(changes);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace etalon::report
