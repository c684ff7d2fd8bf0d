#include "harness/history/cluster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "harness/core/text.h"
#include "harness/stats/stats.h"

namespace etalon::history {
namespace {

// What can be shared: op, precision, provider, L2 mode, size class.
using Traits = std::array<std::string, 5>;

Traits traits_of(const Line& line, double time_ns) {
    const CaseIdParts parts = split_case_id(line.case_id);
    return {parts.op, parts.precision, provider_text(parts.provider, parts.variant), parts.l2,
            size_class(time_ns)};
}

bool from_vendor(const std::string& provider) {
    return provider != "etalon" && !provider.starts_with("plugin:");
}

double level_of(const Line& line) {
    return line.found.fitted.empty() ? 0 : std::exp(stats::median(line.found.fitted));
}

const ChangePoint& point_of(const std::vector<Line>& lines, const Member& member) {
    return lines[member.line].points[member.point].point;
}

class Clustering {
   public:
    explicit Clustering(const std::vector<Line>& lines) : lines_(lines) {
        for (const Line& line : lines) traits_.push_back(traits_of(line, level_of(line)));
    }

    std::vector<Cluster> run() {
        // Points by GPU and direction: a cluster never crosses either.
        std::map<std::pair<std::string, bool>, std::vector<Member>> groups;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            for (std::size_t k = 0; k < lines_[i].points.size(); ++k) {
                const bool slower = lines_[i].points[k].point.ratio.value > 1;
                groups[{lines_[i].gpu, slower}].push_back({i, k});
            }
        }
        std::vector<Cluster> all;
        for (auto& [key, members] : groups) gather(members, key.second, all);
        std::stable_sort(all.begin(), all.end(), [](const Cluster& a, const Cluster& b) {
            return std::pair(b.run, b.members.size()) < std::pair(a.run, a.members.size());
        });
        return all;
    }

   private:
    [[nodiscard]] const DatedPoint& dated(const Member& member) const {
        return lines_[member.line].points[member.point];
    }

    // Again and again the night that most points name, with all whose interval holds it.
    void gather(std::vector<Member> open, bool slower, std::vector<Cluster>& all) const {
        while (!open.empty()) {
            std::map<std::size_t, std::size_t> votes;
            for (const Member& member : open) ++votes[dated(member).run];
            const auto most =
                std::max_element(votes.begin(), votes.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; });
            Cluster cluster;
            cluster.run = most->first;
            cluster.slower = slower;
            std::vector<Member> rest;
            std::set<std::size_t> taken;  // a line moves once a night
            for (const Member& member : open) {
                const DatedPoint& point = dated(member);
                const bool holds =
                    point.earliest_run <= cluster.run && cluster.run <= point.latest_run;
                const bool joins = holds && taken.insert(member.line).second;
                (joins ? cluster.members : rest).push_back(member);
            }
            describe(cluster);
            all.push_back(std::move(cluster));
            open = std::move(rest);
        }
    }

    void describe(Cluster& cluster) const {
        const auto size = [&](const Member& member) {
            return std::fabs(std::log(point_of(lines_, member).ratio.value));
        };
        std::stable_sort(cluster.members.begin(), cluster.members.end(),
                         [&](const Member& a, const Member& b) { return size(a) > size(b); });
        std::vector<double> ratios;
        for (const Member& member : cluster.members) {
            ratios.push_back(point_of(lines_, member).ratio.value);
        }
        cluster.ratio = ratios.size() == 1 ? point_of(lines_, cluster.members[0]).ratio
                                           : stats::geometric_mean(ratios);
        find_causes(cluster);
        name(cluster);
        find_machine(cluster);
    }

    void find_causes(Cluster& cluster) const {
        std::vector<std::pair<Cause, std::size_t>> counted;
        for (const Member& member : cluster.members) {
            for (const Cause& cause : dated(member).causes) {
                const auto known =
                    std::find_if(counted.begin(), counted.end(),
                                 [&](const auto& entry) { return entry.first == cause; });
                if (known == counted.end()) {
                    counted.emplace_back(cause, 1);
                } else {
                    ++known->second;
                }
            }
        }
        for (const auto& [cause, count] : counted) {
            if (2 * count > cluster.members.size()) cluster.causes.push_back(cause);
        }
    }

    [[nodiscard]] bool measured_on(const Line& line, std::size_t run) const {
        const auto at = std::lower_bound(
            line.nights.begin(), line.nights.end(), run,
            [](const Night& night, std::size_t wanted) { return night.run < wanted; });
        return at != line.nights.end() && at->run == run && std::isfinite(at->time_ns);
    }

    void name(Cluster& cluster) const {
        const Line& first = lines_[cluster.members.front().line];
        if (cluster.members.size() == 1) {
            cluster.name = first.case_id;
            cluster.alike = 1;
            return;
        }
        const Traits& own = traits_[cluster.members.front().line];
        std::array<bool, 5> shared{}, common{};
        for (std::size_t t = 0; t < own.size(); ++t) {
            shared[t] = std::all_of(
                cluster.members.begin(), cluster.members.end(),
                [&](const Member& member) { return traits_[member.line][t] == own[t]; });
            common[t] = std::all_of(lines_.begin(), lines_.end(), [&](const Line& line) {
                return traits_[static_cast<std::size_t>(&line - lines_.data())][t] == own[t];
            });
        }
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].gpu != first.gpu || !measured_on(lines_[i], cluster.run)) continue;
            bool alike = true;
            for (std::size_t t = 0; t < own.size(); ++t) {
                alike = alike && (!shared[t] || traits_[i][t] == own[t]);
            }
            cluster.alike += alike;
        }
        // What every line of the file has says nothing.
        std::vector<std::string> words;
        for (std::size_t t = 0; t < own.size(); ++t) {
            if (shared[t] && !common[t]) words.push_back(own[t]);
        }
        cluster.name = join(words, " ");
    }

    void find_machine(Cluster& cluster) const {
        if (!cluster.causes.empty()) return;
        const Line& first = lines_[cluster.members.front().line];
        std::size_t vendors = 0, moved = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            vendors += lines_[i].gpu == first.gpu && from_vendor(traits_[i][2]) &&
                       measured_on(lines_[i], cluster.run);
        }
        for (const Member& member : cluster.members) moved += from_vendor(traits_[member.line][2]);
        constexpr std::size_t least_cases = 6;
        cluster.machine = moved >= least_cases && 2 * moved >= vendors;
    }

    const std::vector<Line>& lines_;
    std::vector<Traits> traits_;
};

}  // namespace

std::string size_class(double time_ns) {
    if (time_ns < 5e3) return "under 5 µs";
    if (time_ns < 20e3) return "5 to 20 µs";
    if (time_ns < 200e3) return "20 to 200 µs";
    return "over 200 µs";
}

std::vector<Cluster> clusters_of(const std::vector<Line>& lines) {
    return Clustering(lines).run();
}

}  // namespace etalon::history
