#include "harness/report/html/page_data.h"

#include <algorithm>
#include <cmath>

#include "harness/core/text.h"
#include "harness/core/version.h"
#include "harness/gate/load.h"
#include "harness/gate/sides.h"
#include "harness/report/changes.h"
#include "harness/report/html/case_columns.h"
#include "harness/report/roofline.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

using nlohmann::json;

json change_row(const gate::Change& change) {
    json row = {{"id", change.case_id}, {"verdict", name(change.verdict)}};
    if (!change.reason.empty()) row["reason"] = change.reason;
    if (change.ratio) {
        row["ratio"] = triple(change.ratio);
        row["q"] = compact(change.q);
        row["before_ns"] = compact(change.reference_ns);
        row["after_ns"] = compact(change.candidate_ns);
    }
    return row;
}

json counts_json(const gate::Comparison& comparison) {
    json counts = json::object();
    for (const gate::Change& change : comparison.changes) {
        json& count = counts[std::string(name(change.verdict))];
        count = count.is_null() ? 1 : count.get<int>() + 1;
    }
    return counts;
}

json environment_json(const gate::Comparison& comparison) {
    json all = json::array();
    for (const FieldChange& change : comparison.environment) all.push_back(change.text());
    return all;
}

json gate_part(const Report& report) {
    if (!report.changes) return nullptr;
    const gate::GateResult& result = *report.changes;
    json moved = json::array();
    for (const gate::Change& change : result.comparison.changes) {
        if (change.verdict != gate::Verdict::same) moved.push_back(change_row(change));
    }
    return {{"headline", result.headline},
            {"exit", static_cast<int>(result.exit)},
            {"against", result.references.size()},
            {"counts", counts_json(result.comparison)},
            {"environment", environment_json(result.comparison)},
            {"common_shift", result.comparison.common_shift},
            {"moved", std::move(moved)}};
}

// Against the latest earlier run of another environment on the same GPU model, else the run before.
std::optional<gate::Sides> usual_sides(const Store& store, const Run& run) {
    const std::string gpu = store.environment(run.environment_hash).gpu;
    const Run* other = nullptr;
    const std::vector<Run> runs = store.runs({.finished_only = true});
    for (const Run& each : runs) {
        if (each.run_id == run.run_id || each.started_at > run.started_at) continue;
        if (store.environment(each.environment_hash).gpu != gpu) continue;
        const bool differs = each.environment_hash != run.environment_hash;
        if (other != nullptr && other->environment_hash != run.environment_hash && !differs) {
            continue;
        }
        other = &each;
    }
    if (other == nullptr) return std::nullopt;
    return gate::Sides{{*other}, {run}};
}

std::string sides_text(const std::vector<Run>& runs, const std::string& chosen) {
    if (!chosen.empty()) return chosen;
    const Run& run = runs.front();
    return "run " + run.run_id.substr(0, 12) + (run.tag.empty() ? "" : " (" + run.tag + ")");
}

json compare_part(const Store& store, const Run& run, const PageOptions& options) {
    std::optional<gate::Sides> sides;
    std::string before, after;
    if (options.compare) {
        std::tie(before, after) = *options.compare;
        sides = gate::choose_sides(store, before, after);
    } else {
        sides = usual_sides(store, run);
    }
    if (!sides) return nullptr;
    const gate::Comparison comparison =
        gate::compare(gate::load_runs(store, sides->before), gate::load_runs(store, sides->after));
    json rows = json::array(), ops = json::array();
    for (const gate::Change& change : comparison.changes) {
        if (change.ratio || change.verdict != gate::Verdict::same) {
            rows.push_back(change_row(change));
        }
    }
    for (const OpChanges& group : by_op(comparison)) {
        ops.push_back({{"op", group.op},
                       {"compared", group.compared},
                       {"moved", group.moved.size()},
                       {"mean", triple(group.geometric_mean)}});
    }
    return {{"before", sides_text(sides->before, before)},
            {"after", sides_text(sides->after, after)},
            {"before_runs", sides->before.size()},
            {"after_runs", sides->after.size()},
            {"counts", counts_json(comparison)},
            {"environment", environment_json(comparison)},
            {"common_shift", comparison.common_shift},
            {"rows", std::move(rows)},
            {"ops", std::move(ops)}};
}

json ceilings_part(const Report& report, const std::vector<cost::Card>& cards) {
    const Roofline reached = roofline(report);
    json tflops = json::object(), sheet_tflops = json::object();
    for (const auto& [precision, ceiling] : reached.tflops) {
        tflops[precision] = {{"value", compact(ceiling.value)}, {"id", ceiling.case_id}};
    }
    json sheet = nullptr;
    const cost::Card* card = cost::find_card(cards, report.environment.gpu);
    if (card != nullptr && card->data_sheet_gb_s > 0) {
        for (const auto& [precision, rate] : card->data_sheet_tflops) {
            sheet_tflops[std::string(name(precision))] = compact(rate);
        }
        sheet = {{"card", card->name},
                 {"gb_s", compact(card->data_sheet_gb_s)},
                 {"tflops", std::move(sheet_tflops)}};
    }
    return {{"gb_s",
             {{"value", compact(reached.memory_gbs.value)}, {"id", reached.memory_gbs.case_id}}},
            {"tflops", std::move(tflops)},
            {"data_sheet", std::move(sheet)}};
}

}  // namespace

json page_data(const Store& store, const PageOptions& options) {
    json data = {{"format", "etalon.page/1"}, {"made_at", utc_now()}, {"version", version()},
                 {"revision", revision()},    {"run", nullptr},       {"cost", options.cost},
                 {"doctor", options.doctor}};
    if (store.runs().empty()) return data;
    const Report report = load_report(store, options.run);
    json whole = report_json(report);
    for (const char* part : {"run", "environment", "conditions", "counts"}) {
        data[part] = std::move(whole[part]);
    }
    data["run"]["host_name"] = report.run.host_name;
    data["gate"] = gate_part(report);
    data["cases"] = case_columns(store, report);
    data["ceilings"] = ceilings_part(report, options.cards);

    // Histories of this card alone; a fleet's file holds others.
    const NightValues nights = store.night_values();
    std::vector<history::Line> lines = history::lines_of(nights);
    std::erase_if(lines,
                  [&](const history::Line& line) { return line.gpu != report.environment.gpu; });
    std::set<std::string> flagged;
    if (report.changes) {
        for (const gate::Change& change : report.changes->comparison.changes) {
            if (change.verdict != gate::Verdict::same) flagged.insert(change.case_id);
        }
    }
    data["runs"] = runs_json(nights);
    data["histories"] = histories_json(lines, flagged, options.thin);
    data["clusters"] = clusters_json(history::clusters_of(lines));
    data["compare"] = compare_part(store, report.run, options);
    return data;
}

}  // namespace etalon::report
