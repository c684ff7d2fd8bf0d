#include "harness/gate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/gate/common_shift.h"
#include "harness/gate/false_discovery.h"
#include "harness/gate/test_of_case.h"

namespace etalon::gate {
namespace {

// Verdicts that need no test: what the statuses alone say. Nothing when both sides have times.
std::optional<Change> by_status(const CaseRuns& reference, const CaseRuns& candidate,
                                const CompareOptions& options) {
    Change change;
    if (!candidate.incorrect.empty()) {
        change.verdict = Verdict::incorrect;
        change.reason = candidate.incorrect;
        return change;
    }
    if (!candidate.points.empty()) {
        if (!reference.points.empty()) return std::nullopt;
        change.verdict = Verdict::new_case;
        if (!reference.incorrect.empty()) {
            change.reason = "the reference was incorrect: " + reference.incorrect;
        } else if (!reference.failed.empty()) {
            change.reason = "the reference failed: " + reference.failed;
        } else if (!reference.unsupported.empty()) {
            change.reason = "the reference could not run it: " + reference.unsupported;
        }
        return change;
    }
    if (!candidate.failed.empty()) {
        change.verdict = Verdict::failed;
        change.reason = candidate.failed;
        return change;
    }
    if (candidate.left_out > 0) {
        change.verdict = Verdict::failed;
        change.reason = "its stored time is not a positive number";
        return change;
    }
    const bool known =
        !reference.points.empty() && (reference.in_latest_run || !options.reference_is_history);
    if (!known) return std::nullopt;
    change.verdict = Verdict::missing;
    if (!candidate.unsupported.empty()) change.reason = "now unsupported: " + candidate.unsupported;
    return change;
}

// What computes the case, of a provider's description: which algorithm, plan or kernel. Not how it
// was chosen: times and gains differ each night.
std::string implementation(const CaseRuns& runs) {
    const nlohmann::json told = nlohmann::json::parse(runs.points.back().rows.back()->m.description,
                                                      nullptr, /*allow_exceptions=*/false);
    std::string text;
    if (!told.is_object()) return text;
    for (const char* key : {"algorithm", "plan", "kernel", "implementation"}) {
        if (told.contains(key)) text += told[key].dump();
    }
    return text;
}

void note_implementation(Change& change, const CaseRuns& a, const CaseRuns& b) {
    const bool told = change.verdict == Verdict::slower || change.verdict == Verdict::faster ||
                      change.verdict == Verdict::ambiguous;
    if (!told) return;
    const std::string then = implementation(a), now = implementation(b);
    if (then.empty() || now.empty() || then == now) return;
    const char* note = "another algorithm or kernel is used than in the latest reference run";
    change.reason = change.reason.empty() ? note : change.reason + "; " + note;
}

void decide(Change& change, double too_wide, const CompareOptions& options) {
    const double effect = std::log(change.ratio->value);
    const double half_width = std::log(change.ratio->hi / change.ratio->lo) / 2;
    const bool matters = std::fabs(effect) >= std::log1p(change.least_effect);
    if (matters && change.q <= options.fdr) {
        change.verdict = effect > 0 ? Verdict::slower : Verdict::faster;
    } else if (matters && change.q <= candidate_factor * options.fdr) {
        change.verdict = Verdict::ambiguous;
        change.reason = "may have changed: measure it again to decide";
    } else if (half_width > too_wide) {
        change.verdict = Verdict::ambiguous;
        change.reason = fmt::format("too noisy: known to ±{:.2g} % only, ±{:.2g} % is the limit",
                                    100 * std::expm1(half_width), 100 * std::expm1(too_wide));
    }
}

}  // namespace

int Comparison::count(Verdict verdict) const {
    return static_cast<int>(
        std::count_if(changes.begin(), changes.end(),
                      [&](const Change& change) { return change.verdict == verdict; }));
}

Comparison compare(const RunSet& reference, const RunSet& candidate,
                   const CompareOptions& options) {
    const auto before = by_case(reference), after = by_case(candidate);
    std::set<std::string> ids;
    for (const auto& [id, runs] : before) ids.insert(id);
    for (const auto& [id, runs] : after) ids.insert(id);

    Comparison result;
    result.environment =
        environment_changes(reference.environments_used(), candidate.environments_used());
    std::vector<CaseTest> tests;
    std::vector<std::size_t> tested;  // index of each test's change
    const CaseRuns none;
    for (const std::string& id : ids) {
        const auto old_runs = before.find(id), new_runs = after.find(id);
        const CaseRuns& a = old_runs == before.end() ? none : old_runs->second;
        const CaseRuns& b = new_runs == after.end() ? none : new_runs->second;
        Change change;
        if (const auto known = by_status(a, b, options)) {
            change = *known;
        } else if (a.points.empty() || b.points.empty()) {
            result.unsupported += !b.unsupported.empty();
            continue;  // nothing on either side that could be compared, nor was there lately
        } else {
            CaseTest test = test_case(a, b, options);
            change = test.change;
            if (change.ratio) {
                tested.push_back(result.changes.size());
                tests.push_back(std::move(test));
            }
        }
        change.case_id = id;
        change.key = new_runs == after.end() ? a.key : b.key;
        change.left_out = a.left_out + b.left_out;
        result.changes.push_back(std::move(change));
    }

    std::vector<double> p_values;
    for (const CaseTest& test : tests) p_values.push_back(test.change.p);
    const std::vector<double> adjusted = benjamini_hochberg(p_values);
    for (std::size_t i = 0; i < tests.size(); ++i) {
        Change& change = result.changes[tested[i]];
        change.q = adjusted[i];
        decide(change, tests[i].too_wide, options);
        note_implementation(change, before.at(change.case_id), after.at(change.case_id));
    }
    if (result.environment.empty()) result.common_shift = set_common_shift_aside(result.changes);
    return result;
}

}  // namespace etalon::gate
