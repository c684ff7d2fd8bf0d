#include "harness/gate/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::gate {
namespace {

// What the file holds for each key that the selection names.
std::string known_values(const Store& store, const Selection& selection) {
    std::map<std::string, std::set<std::string>> values;
    for (const Run& run : store.runs()) {
        const Environment environment = store.environment(run.environment_hash);
        const std::pair<bool, std::pair<const char*, std::string>> named[] = {
            {selection.run.has_value(), {"run", run.run_id}},
            {selection.tag.has_value(), {"tag", run.tag}},
            {selection.suite.has_value(), {"suite", run.suite}},
            {selection.device.has_value(), {"device", run.device}},
            {selection.driver.has_value(), {"driver", environment.driver}},
            {selection.cudnn.has_value(), {"cudnn", environment.cudnn}},
            {selection.gpu.has_value(), {"gpu", environment.gpu}},
            {selection.since || selection.until, {"started_at", run.started_at}},
        };
        for (const auto& [wanted, field] : named) {
            if (wanted && !field.second.empty()) values[field.first].insert(field.second);
        }
    }
    constexpr std::size_t most = 6;
    std::vector<std::string> parts;
    for (const auto& [key, found] : values) {
        std::vector<std::string> shown(found.begin(), found.end());
        if (shown.size() > most) {
            shown.erase(shown.begin(), shown.end() - most);
            shown.insert(shown.begin(), "...");
        }
        parts.push_back(fmt::format("{}: {}", key, join(shown, ", ")));
    }
    return join(parts, "; ");
}

}  // namespace

RunSet load_runs(const Store& store, const std::vector<Run>& runs, Samples samples) {
    RunSet set;
    for (const Run& run : runs) {
        if (!set.environments.contains(run.environment_hash)) {
            set.environments[run.environment_hash] = store.environment(run.environment_hash);
        }
    }
    set.rows = store.comparable_rows(runs, samples == Samples::load);
    return set;
}

std::vector<Run> choose_runs(const Store& store, const Selection& selection) {
    std::vector<Run> runs = store.runs(selection);
    if (!runs.empty()) return runs;
    const std::string known = known_values(store, selection);
    throw usage_error(known.empty()
                          ? std::string("the file holds no run; `etalon sweep` makes one")
                          : fmt::format("no run matches {} ({})", selection.text(), known));
}

Run choose_run(const Store& store, const std::optional<std::string>& run) {
    if (run) return store.run(*run);
    const std::vector<Run> finished = store.runs({.finished_only = true});
    if (!finished.empty()) return finished.back();
    const std::vector<Run> all = store.runs();
    if (all.empty()) throw usage_error("the file holds no run; `etalon sweep` makes one");
    throw Error(ExitCode::undecided,
                fmt::format("no run is finished; go on with `etalon sweep --resume {} --db FILE`, "
                            "or name it with --run",
                            all.back().run_id));
}

std::vector<Run> earlier_runs(const Store& store, const Run& run, int window) {
    const Environment own = store.environment(run.environment_hash);
    std::map<std::string, bool> comparable;
    std::vector<Run> earlier;
    for (const Run& other :
         store.runs({.suite = run.suite, .device = run.device, .finished_only = true})) {
        if (std::tie(other.started_at, other.run_id) >= std::tie(run.started_at, run.run_id)) {
            continue;
        }
        auto [at, fresh] = comparable.try_emplace(other.environment_hash);
        if (fresh) {
            const Environment theirs = store.environment(other.environment_hash);
            at->second = theirs.gpu == own.gpu && theirs.device_kind == own.device_kind &&
                         theirs.method == own.method;
        }
        if (at->second) earlier.push_back(other);
    }
    const auto most = static_cast<std::size_t>(std::max(1, window));
    if (earlier.size() > most) {
        earlier.erase(earlier.begin(), earlier.end() - static_cast<std::ptrdiff_t>(most));
    }
    return earlier;
}

}  // namespace etalon::gate
