// The nightly question: did this run get slower than the ones before it?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/gate/compare.h"

namespace etalon::gate {

struct GateOptions {
    std::optional<std::string> run;    // id or unique prefix; else the latest finished run
    std::optional<Selection> against;  // reference; else the earlier runs of the same kind
    int window = 20;                   // how many of those, the latest ones
    CompareOptions compare;
};

struct GateResult {
    Run candidate;
    std::vector<Run> references;  // oldest first
    Comparison comparison;
    ExitCode exit = ExitCode::ok;
    std::string headline;  // one line that says why
};

// Throws a usage Error for a run or a selection that does not exist.
[[nodiscard]] GateResult gate(const Store& store, const GateOptions& options);

// The exit code, the gravest first: 1 any case slower or incorrect; 4 any failed; 3 no baseline,
// nothing in common with it, or any case ambiguous or missing (a library that broke makes its cases
// unsupported: nobody knows then whether they are slower); else 0. New and faster cases are told
// and do not fail.
[[nodiscard]] ExitCode decide(const Comparison& comparison, bool has_baseline);

// "2 slower, 38 same", the gravest first.
[[nodiscard]] std::string counts_text(const Comparison& comparison);

// "regression: 2 slower, 38 same"
[[nodiscard]] std::string headline(const Comparison& comparison, ExitCode exit);

}  // namespace etalon::gate
