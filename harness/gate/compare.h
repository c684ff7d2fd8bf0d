// Two sets of runs, case by case: what changed, by how much, how sure.
//
// Each run of a case is one value: the log of its median time, normalised by one elasticity for
// both sides, so that its error cancels where both ran at the same clock. The interval of the
// ratio has three parts in quadrature: the samples within each run, the runs among themselves
// (run_noise.h), and the elasticity times the distance of the clocks. p-values are two-sided and
// corrected over all cases by Benjamini & Hochberg.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/environment_change.h"
#include "harness/gate/run_set.h"
#include "harness/gate/verdict.h"

namespace etalon::gate {

struct CompareOptions {
    double least_effect = 0.005;  // relative; changes under it are `same`
    double fdr = 0.01;            // share of false ones among the verdicts slower and faster
    int least_samples = 5;        // a run with fewer has no say
    // The reference is a history of one machine: only its latest steady level counts, and only what
    // its latest run holds can be missing.
    bool reference_is_history = false;
};

// A change that is significant only at this many times the FDR is `ambiguous`: measure it again. Of
// quiet nights, that share (5 % by default) has one.
inline constexpr double candidate_factor = 5;

// An unchanged timer moves by up to this share of its empty window (H200, CUDA events: 1.25 µs,
// which wander by about a tenth); no effect under it is reported.
inline constexpr double floor_share = 0.1;

struct Change {
    std::string case_id;
    Case key;
    Verdict verdict = Verdict::same;
    std::string reason;             // one line; empty where the verdict says all
    std::optional<Estimate> ratio;  // candidate / reference time: over 1 is slower; 95 %
    double p = 1;                   // of no change, two-sided
    double q = 1;                   // adjusted over all cases
    double least_effect = 0;        // relative, with the timer's resolution in it
    double run_sigma = 0;           // between runs, relative
    double reference_ns = 0, candidate_ns = 0;  // at the reference clock; 0: not measured
    int reference_runs = 0, candidate_runs = 0;
    int left_out = 0;  // rows that claimed a time that cannot be
};

struct Comparison {
    std::vector<Change> changes;  // by case id
    std::vector<FieldChange> environment;
    std::string common_shift;  // one line when the whole machine moved, else empty
    int unsupported = 0;       // cases that neither side can run
    [[nodiscard]] int count(Verdict verdict) const;
};

[[nodiscard]] Comparison compare(const RunSet& reference, const RunSet& candidate,
                                 const CompareOptions& options = {});

}  // namespace etalon::gate
