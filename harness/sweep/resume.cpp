// What is kept with a run, and taking one up again.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "harness/core/environment_change.h"
#include "harness/core/text.h"
#include "harness/sweep/sweep.h"

namespace etalon {
namespace {

using nlohmann::json;

std::string differences(const Environment& then, const Environment& now) {
    std::vector<std::string> fields;
    for (const FieldChange& change : environment_changes(std::span(&then, 1), std::span(&now, 1))) {
        fields.push_back(change.text());
    }
    return join(fields, ", ");
}

}  // namespace

std::string to_json(const SweepOptions& options) {
    json out = {{"suite", options.suite},
                {"include", options.include},
                {"exclude", options.exclude},
                {"precision", options.measure.precision},
                {"min_samples", options.measure.min_samples},
                {"max_samples", options.measure.max_samples},
                {"case_budget_ms", options.measure.case_budget_ms},
                {"seed", options.measure.seed},
                {"choose_again", options.choose_again}};
    if (options.budget_s) out["budget_s"] = *options.budget_s;
    return out.dump();
}

SweepOptions options_from_json(const std::string& text) {
    try {
        const json in = json::parse(text);
        SweepOptions options;
        options.suite = in.at("suite");
        options.include = in.at("include").get<std::vector<std::string>>();
        options.exclude = in.at("exclude").get<std::vector<std::string>>();
        options.measure.precision = in.at("precision");
        options.measure.min_samples = in.at("min_samples");
        options.measure.max_samples = in.at("max_samples");
        options.measure.case_budget_ms = in.at("case_budget_ms");
        options.measure.seed = in.at("seed");
        options.choose_again = in.value("choose_again", false);  // not in runs of older builds
        return options;
    } catch (const json::exception& error) {
        throw usage_error(fmt::format(
            "the run's stored options cannot be read ({}); begin a new sweep", error.what()));
    }
}

Run find_unfinished(Device& device, const Store& store, const std::string& run) {
    Run found;
    if (run.empty()) {
        const std::vector<Run> all = store.runs({.device = device.info().id});
        for (const Run& each : all) {
            if (each.state != RunState::finished) found = each;
        }
        if (found.run_id.empty()) {
            throw usage_error(fmt::format(
                "there is no unfinished run of {} to resume; leave out --resume to begin one",
                device.info().id));
        }
    } else {
        found = store.run(run);
        if (found.state == RunState::finished) {
            throw usage_error(fmt::format("run {} is finished; leave out --resume to begin another",
                                          found.run_id));
        }
        if (found.device != device.info().id) {
            throw usage_error(fmt::format("run {} is of {}, this is {}; give --device {}",
                                          found.run_id, found.device, device.info().id,
                                          found.device));
        }
    }
    const Environment now = describe_environment(device);
    if (now.hash() != found.environment_hash) {
        throw usage_error(
            fmt::format("run {} was begun in another environment ({}); begin a new sweep",
                        found.run_id, differences(store.environment(found.environment_hash), now)));
    }
    return found;
}

}  // namespace etalon
