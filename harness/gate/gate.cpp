#include "harness/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/gate/load.h"

namespace etalon::gate {
namespace {

// Has any case been put to the test?
bool compared(const Comparison& comparison) {
    return std::any_of(comparison.changes.begin(), comparison.changes.end(),
                       [](const Change& change) { return change.ratio.has_value(); });
}

std::string no_baseline(const GateResult& result, const Environment& environment,
                        const GateOptions& options) {
    if (options.against) {
        return fmt::format("no baseline: {} chooses only the candidate itself",
                           options.against->text());
    }
    return fmt::format(
        "no baseline: no earlier finished run of suite {} on {} ({}); the next run is gated "
        "against this one",
        result.candidate.suite, result.candidate.device, environment.gpu);
}

}  // namespace

ExitCode decide(const Comparison& comparison, bool has_baseline) {
    if (comparison.count(Verdict::slower) + comparison.count(Verdict::incorrect) > 0) {
        return ExitCode::regression;
    }
    if (comparison.count(Verdict::failed) > 0) return ExitCode::device_failure;
    if (!has_baseline || !compared(comparison) ||
        comparison.count(Verdict::ambiguous) + comparison.count(Verdict::missing) > 0) {
        return ExitCode::undecided;
    }
    return ExitCode::ok;
}

std::string counts_text(const Comparison& comparison) {
    constexpr Verdict gravest_first[] = {Verdict::incorrect, Verdict::slower,  Verdict::failed,
                                         Verdict::ambiguous, Verdict::missing, Verdict::faster,
                                         Verdict::same,      Verdict::new_case};
    std::vector<std::string> counts;
    for (const Verdict verdict : gravest_first) {
        if (const int count = comparison.count(verdict); count > 0) {
            counts.push_back(fmt::format("{} {}", count, name(verdict)));
        }
    }
    return counts.empty() ? "no case measured" : join(counts, ", ");
}

std::string headline(const Comparison& comparison, ExitCode exit) {
    const std::string all = counts_text(comparison);
    switch (exit) {
        case ExitCode::regression:
            return "regression: " + all;
        case ExitCode::device_failure:
            return "measurement failed: " + all;
        case ExitCode::undecided:
            return (compared(comparison) ? "cannot decide: "
                                         : "cannot decide, no case could be compared: ") +
                   all;
        case ExitCode::ok:
        case ExitCode::usage:
            break;
    }
    return "fine: " + all;
}

GateResult gate(const Store& store, const GateOptions& options) {
    GateResult result;
    result.candidate = choose_run(store, options.run);
    if (options.against) {
        result.references = choose_runs(store, *options.against);
        std::erase_if(result.references,
                      [&](const Run& run) { return run.run_id == result.candidate.run_id; });
    } else {
        result.references = earlier_runs(store, result.candidate, options.window);
    }
    CompareOptions how = options.compare;
    how.reference_is_history = !options.against;
    // A window of many runs of many cases is judged within seconds only without its samples; both
    // sides are then read alike.
    constexpr std::size_t few_runs = 3;
    const Samples samples = result.references.size() > few_runs ? Samples::leave : Samples::load;
    result.comparison = compare(load_runs(store, result.references, samples),
                                load_runs(store, {result.candidate}, samples), how);
    const bool has_baseline = !result.references.empty();
    result.exit = decide(result.comparison, has_baseline);
    result.headline =
        has_baseline || result.exit != ExitCode::undecided
            ? headline(result.comparison, result.exit)
            : no_baseline(result, store.environment(result.candidate.environment_hash), options);
    return result;
}

}  // namespace etalon::gate
