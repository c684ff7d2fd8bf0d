// The time of one step: its operators, each with where its time comes from, and an interval.
#pragma once

#include <string>
#include <vector>

#include "harness/cost/lookup.h"

namespace etalon::cost {

// Steps composed of isolated kernels, against the same steps run whole: what others' tables gave
// over 127 served runs (5 % mean absolute error). Never narrower, however well the parts are known.
inline constexpr double composition_half_width = 0.05;

struct StepRow {
    Operator op;
    Found found;
    double time_ns = 0;  // of all its launches in the step; 0 where missing or included
    double share = 0;    // of the step
    std::string bound;   // compute, memory, latency (far from both), link
};

struct StepEstimate {
    Step step;
    std::vector<StepRow> rows;
    Estimate time_ns;  // of what is known
    // Shares of the time by origin.
    double measured = 0, interpolated = 0, modelled = 0;
    std::vector<std::string> missing;  // problem ids
    bool unvalidated = false;          // has experts
};

[[nodiscard]] StepEstimate estimate(const Model& model, const Step& step, const Layout& layout,
                                    const Choice& choice, Lookup& lookup);

}  // namespace etalon::cost
