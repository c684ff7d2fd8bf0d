// Single steps, operator by operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cost/table.h"

namespace etalon::cost {

enum class Phase { decode, prefill, both, mixed };
[[nodiscard]] Phase parse_phase(std::string_view text);

struct Explained {
    std::string model, gpu, group, kernels;  // as in TableRow
    Layout layout;
    StepEstimate step;
};

// Each step of each combination of the grid. A step is taken as it is named, not as part of a
// request: `isl` is the context of decode and the length of prefill; a mixed step decodes at that
// context and prefills the last chunk of it.
[[nodiscard]] std::vector<Explained> explain(const Grid& grid, const std::vector<KernelSet>& sets,
                                             const std::vector<Card>& cards, Phase phase);

}  // namespace etalon::cost
