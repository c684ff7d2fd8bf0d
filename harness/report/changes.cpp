#include "harness/report/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/report/text.h"
#include "harness/stats/stats.h"

namespace etalon::report {
namespace {

using gate::Change;
using gate::Comparison;
using gate::Verdict;

double effect(const Change& change) {
    return change.ratio ? std::fabs(std::log(change.ratio->value)) : 0;
}

// What a reader must see first.
int gravity(Verdict verdict) {
    switch (verdict) {
        case Verdict::incorrect:
            return 0;
        case Verdict::failed:
            return 1;
        case Verdict::slower:
            return 2;
        case Verdict::faster:
            return 3;
        case Verdict::ambiguous:
            return 4;
        case Verdict::missing:
            return 5;
        case Verdict::new_case:
            return 6;
        case Verdict::same:
            return 7;
    }
    return 8;
}

std::string change_of(const Change& change) {
    return change.ratio ? percent_change(*change.ratio) : "-";
}

std::string summary(const OpChanges& group) {
    if (!group.geometric_mean) return "nothing in common";
    return fmt::format("{} compared, geometric mean {}", group.compared,
                       percent_change(*group.geometric_mean));
}

std::string left_out(const std::vector<const Change*>& changes, std::size_t most) {
    return most > 0 && changes.size() > most
               ? fmt::format("... and {} more; --json has all", changes.size() - most)
               : std::string();
}

std::size_t shown(const std::vector<const Change*>& changes, std::size_t most) {
    return most > 0 ? std::min(most, changes.size()) : changes.size();
}

std::string run_line(const Run& run) {
    return fmt::format("{} ({}{})", run.run_id, minute(run.started_at),
                       run.tag.empty() ? "" : ", " + run.tag);
}

std::string references_line(const gate::GateResult& result) {
    if (result.references.empty()) return "none";
    const Run& latest = result.references.back();
    return result.references.size() == 1
               ? run_line(latest)
               : fmt::format("{} runs, the latest {}", result.references.size(), run_line(latest));
}

}  // namespace

std::vector<OpChanges> by_op(const Comparison& comparison) {
    std::map<std::string, OpChanges> groups;
    std::map<std::string, std::vector<double>> ratios;
    for (const Change& change : comparison.changes) {
        const std::string& op = change.key.problem.op;
        OpChanges& group = groups[op];
        group.op = op;
        if (change.ratio) {
            ++group.compared;
            ratios[op].push_back(change.ratio->value);
        }
        if (change.verdict != Verdict::same && change.verdict != Verdict::new_case) {
            group.moved.push_back(&change);
        }
    }
    std::vector<OpChanges> all;
    for (auto& [op, group] : groups) {
        if (!ratios[op].empty()) group.geometric_mean = stats::geometric_mean(ratios[op]);
        std::stable_sort(group.moved.begin(), group.moved.end(),
                         [](const Change* a, const Change* b) {
                             return std::pair(gravity(a->verdict), -effect(*a)) <
                                    std::pair(gravity(b->verdict), -effect(*b));
                         });
        all.push_back(std::move(group));
    }
    return all;
}

std::string changes_text(const Comparison& comparison, std::size_t most) {
    std::string text;
    for (const FieldChange& change : comparison.environment) {
        text += fmt::format("environment: {}\n", change.text());
    }
    if (!comparison.common_shift.empty()) text += comparison.common_shift + "\n";
    for (const OpChanges& group : by_op(comparison)) {
        text += fmt::format("{}: {}\n", group.op, summary(group));
        for (std::size_t i = 0; i < shown(group.moved, most); ++i) {
            const Change& change = *group.moved[i];
            text += fmt::format("  {:<9} {:<30} {}", name(change.verdict), change_of(change),
                                change.case_id);
            if (change.ratio) {
                text += fmt::format("  {} -> {}", time_text(change.reference_ns),
                                    time_text(change.candidate_ns));
            }
            if (!change.reason.empty()) text += "  " + change.reason;
            text += '\n';
        }
        if (const std::string rest = left_out(group.moved, most); !rest.empty()) {
            text += "  " + rest + "\n";
        }
    }
    return text;
}

std::string changes_markdown(const Comparison& comparison, std::size_t most) {
    std::string text;
    for (const FieldChange& change : comparison.environment) {
        text += fmt::format("- environment: {} {} → {}\n", code(change.field, false),
                            cell(change.before), cell(change.after));
    }
    if (!comparison.common_shift.empty()) text += "- " + cell(comparison.common_shift) + "\n";
    if (!text.empty()) text += '\n';
    for (const OpChanges& group : by_op(comparison)) {
        text += fmt::format("**{}**: {}\n\n", cell(group.op), summary(group));
        if (group.moved.empty()) continue;
        text += "| verdict | change (95 %) | case | before | after | q | why |\n";
        text += "|---|---|---|---|---|---|---|\n";
        for (std::size_t i = 0; i < shown(group.moved, most); ++i) {
            const Change& change = *group.moved[i];
            text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name(change.verdict),
                                change_of(change), code(change.case_id),
                                time_text(change.reference_ns), time_text(change.candidate_ns),
                                change.ratio ? significant(change.q, 2) : "-", cell(change.reason));
        }
        if (const std::string rest = left_out(group.moved, most); !rest.empty()) {
            text += "\n" + rest + "\n";
        }
        text += '\n';
    }
    return text;
}

nlohmann::json changes_json(const Comparison& comparison) {
    using nlohmann::json;
    json environment = json::array(), changes = json::array(), counts = json::object();
    for (const FieldChange& change : comparison.environment) {
        environment.push_back(
            {{"field", change.field}, {"before", change.before}, {"after", change.after}});
    }
    for (const Verdict verdict :
         {Verdict::same, Verdict::slower, Verdict::faster, Verdict::ambiguous, Verdict::new_case,
          Verdict::missing, Verdict::failed, Verdict::incorrect}) {
        counts[std::string(name(verdict))] = comparison.count(verdict);
    }
    for (const Change& change : comparison.changes) {
        const bool tested = change.ratio.has_value();
        const auto if_tested = [&](double value) { return tested ? number(value) : json(nullptr); };
        changes.push_back({{"case_id", change.case_id},
                           {"op", change.key.problem.op},
                           {"precision", name(change.key.problem.precision)},
                           {"provider", change.key.provider},
                           {"verdict", name(change.verdict)},
                           {"reason", change.reason},
                           {"ratio", interval(change.ratio)},
                           {"p", if_tested(change.p)},
                           {"q", if_tested(change.q)},
                           {"least_effect", if_tested(change.least_effect)},
                           {"run_sigma", if_tested(change.run_sigma)},
                           {"reference_ns", if_tested(change.reference_ns)},
                           {"candidate_ns", if_tested(change.candidate_ns)},
                           {"reference_runs", change.reference_runs},
                           {"candidate_runs", change.candidate_runs},
                           {"left_out", change.left_out}});
    }
    return {{"environment", environment},
            {"common_shift",
             comparison.common_shift.empty() ? json(nullptr) : json(comparison.common_shift)},
            {"counts", counts},
            {"unsupported", comparison.unsupported},
            {"changes", changes}};
}

std::string gate_text(const gate::GateResult& result) {
    std::string text = result.headline + "\n";
    if (result.references.empty() && result.exit == ExitCode::undecided) return text;
    text += fmt::format("run {} against {}\n", run_line(result.candidate), references_line(result));
    return text + changes_text(result.comparison);
}

std::string gate_markdown(const gate::GateResult& result) {
    return fmt::format("### etalon: {}\n\nRun {} of suite {} on {}, against {}.\n\n{}",
                       cell(result.headline), cell(run_line(result.candidate)),
                       cell(result.candidate.suite), cell(result.candidate.device),
                       cell(references_line(result)), changes_markdown(result.comparison));
}

nlohmann::json gate_json(const gate::GateResult& result) {
    nlohmann::json out = changes_json(result.comparison);
    nlohmann::json references = nlohmann::json::array();
    for (const Run& run : result.references) references.push_back(run.run_id);
    out["format"] = "etalon.gate/1";
    out["exit"] = static_cast<int>(result.exit);
    out["headline"] = result.headline;
    out["candidate"] = result.candidate.run_id;
    out["references"] = references;
    return out;
}

}  // namespace etalon::report
