#include "harness/history/line.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/gate/run_noise.h"
#include "harness/history/parallel.h"
#include "harness/stats/stats.h"

namespace etalon::history {
namespace {

struct Key {
    std::uint32_t case_index;
    std::string gpu, method;
    auto operator<=>(const Key&) const = default;
};

const Environment& environment_of(const NightValues& values, std::size_t run) {
    return values.environments.at(values.runs[run].environment_hash);
}

std::vector<FieldChange> environment_between(const NightValues& values, std::size_t before,
                                             std::size_t after) {
    return environment_changes(std::span(&environment_of(values, before), 1),
                               std::span(&environment_of(values, after), 1));
}

// What changed from one run to another: the environment, then the revision that was measured.
std::vector<FieldChange> changes_between(const NightValues& values, std::size_t before,
                                         std::size_t after) {
    std::vector<FieldChange> changes;
    const Run &a = values.runs[before], &b = values.runs[after];
    if (a.environment_hash != b.environment_hash) {
        changes = environment_between(values, before, after);
    }
    if (a.revision != b.revision) {
        const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
        changes.push_back({"revision", shown(a.revision), shown(b.revision)});
    }
    return changes;
}

// The value of a run that measured a case several times.
double joined_ns(const std::vector<double>& times, double class_sigma) {
    if (times.size() == 1) return times.front();
    std::vector<gate::RunValue> logs;
    for (const double time : times) logs.push_back({std::log(time), 0});
    return std::exp(gate::robust_centre(logs, class_sigma));
}

class LineBuilder {
   public:
    explicit LineBuilder(Line& line) : line_(line) {}

    void add(const NightValue& value) {
        if (line_.nights.empty() || line_.nights.back().run != value.run) {
            close();
            line_.nights.push_back({value.run, value.status});
        }
        Night& night = line_.nights.back();
        if (value.status != Status::ok) return;
        night.status = Status::ok;
        if (std::isfinite(value.norm_time_ns) && value.norm_time_ns > 0) {
            times_.push_back(value.norm_time_ns);
        } else {
            ++line_.left_out;
        }
    }

    // Ends a night, and with the last one the line.
    void close() {
        if (times_.empty()) return;
        const double sigma = gate::class_sigma(line_.device, times_.front());
        line_.nights.back().time_ns = joined_ns(times_, sigma);
        times_.clear();
    }

   private:
    Line& line_;
    std::vector<double> times_;
};

void find_changes(Line& line, const NightValues& values, double least_effect) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < line.nights.size(); ++i) {
        if (!std::isfinite(line.nights[i].time_ns)) continue;
        line.timed.push_back(i);
        logs.push_back(std::log(line.nights[i].time_ns));
    }
    DetectOptions options{.least_effect = least_effect};
    if (!logs.empty()) {
        options.prior_sigma = gate::class_sigma(line.device, std::exp(stats::median(logs)));
        options.prior_weight = gate::class_weight;
    }
    line.found = detect(logs, options);

    for (std::size_t i = 1; i < line.nights.size(); ++i) {
        const std::size_t before = line.nights[i - 1].run, run = line.nights[i].run;
        if (values.runs[before].environment_hash == values.runs[run].environment_hash) continue;
        for (FieldChange& change : environment_between(values, before, run)) {
            line.environment.push_back({std::move(change), run});
        }
    }
    const auto run_of = [&](std::size_t value) -> std::size_t {
        return line.nights[line.timed[value]].run;
    };
    for (const ChangePoint& point : line.found.points) {
        DatedPoint dated{point, run_of(point.at), run_of(point.earliest), run_of(point.latest), {}};
        dated.before_ns = std::exp(line.found.fitted[point.at - 1]);
        dated.after_ns = std::exp(line.found.fitted[point.at]);
        // From the night after the last one that surely has the old level.
        for (std::size_t i = line.timed[point.earliest - 1] + 1; i <= line.timed[point.latest];
             ++i) {
            const std::size_t run = line.nights[i].run;
            for (FieldChange& change : changes_between(values, line.nights[i - 1].run, run)) {
                dated.causes.push_back({std::move(change), run});
            }
        }
        const std::size_t eve = run_of(point.at - 1);
        std::stable_partition(dated.causes.begin(), dated.causes.end(), [&](const Cause& cause) {
            return cause.run > eve && cause.run <= dated.run;
        });
        line.points.push_back(std::move(dated));
    }
    for (const Drift& drift : line.found.drifts) {
        line.drifts.push_back({drift, run_of(drift.first), run_of(drift.last)});
    }
}

// The method of a row that has none because nothing was timed is that of the line it would stand
// in: the latest of its case on its GPU.
const std::string& method_of(const NightValue& value, const NightValues& values,
                             const std::string& latest) {
    const std::string& own = values.methods[value.method];
    return own.empty() ? latest : own;
}

}  // namespace

std::vector<Line> lines_of(const NightValues& values, double least_effect) {
    std::vector<Line> all;
    for (std::size_t begin = 0; begin < values.values.size();) {
        std::size_t end = begin;
        const std::uint32_t case_index = values.values[begin].case_index;
        std::map<std::string, std::string> latest;  // method by GPU
        for (; end < values.values.size() && values.values[end].case_index == case_index; ++end) {
            const NightValue& value = values.values[end];
            const std::string& method = values.methods[value.method];
            if (!method.empty()) latest[environment_of(values, value.run).gpu] = method;
        }
        std::map<Key, std::pair<Line, std::vector<const NightValue*>>> lines;
        for (; begin < end; ++begin) {
            const NightValue& value = values.values[begin];
            const Environment& environment = environment_of(values, value.run);
            const Key key{case_index, environment.gpu,
                          method_of(value, values, latest[environment.gpu])};
            auto& [line, rows] = lines[key];
            line.case_id = values.case_ids[case_index];
            line.gpu = key.gpu;
            line.method = key.method;
            line.device = environment.device_kind == "host" ? DeviceKind::host : DeviceKind::cuda;
            rows.push_back(&value);
        }
        for (auto& [key, line_and_rows] : lines) {
            LineBuilder builder(line_and_rows.first);
            for (const NightValue* value : line_and_rows.second) builder.add(*value);
            builder.close();
            all.push_back(std::move(line_and_rows.first));
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Line& a, const Line& b) {
        return std::tie(a.case_id, a.gpu, a.method) < std::tie(b.case_id, b.gpu, b.method);
    });
    in_parallel(all.size(), [&](std::size_t i) { find_changes(all[i], values, least_effect); });
    return all;
}

}  // namespace etalon::history
