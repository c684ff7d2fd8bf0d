// From an operator to a time: measured, interpolated, modelled or missing, never a silent guess.
//
// A measured shape is taken as it stands. Along one or two axes (tokens, context, batch, elements)
// time is linear between measured neighbours of the same shape; √time for causal prefill, whose
// work is quadratic. Else utilisation (roofline time / measured time) is borrowed from the nearest
// shapes in log space, at most two octaves away. Beyond that the operator is `missing`, but for
// kernels that do nothing but move rows, which are `modelled`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/core/records.h"
#include "harness/cost/card.h"
#include "harness/cost/kernels.h"
#include "harness/cost/series.h"
#include "harness/cost/step.h"

namespace etalon::cost {

enum class Origin {
    measured,
    interpolated,
    modelled,
    included,  // in another row of the step: nothing is added
    missing
};
[[nodiscard]] std::string_view name(Origin origin);

// Whose kernels count.
enum class Impl {
    framework,  // vendor libraries as they come: first heuristic, nothing fused
    vendor,     // the best of cuBLASLt, cuDNN, NCCL
    etalon,
    best  // the fastest correct one of each shape
};
[[nodiscard]] std::string_view name(Impl impl);
[[nodiscard]] Impl parse_impl(std::string_view text);

struct Choice {
    Impl impl = Impl::best;
    // Not empty: these families of providers instead (trtllm also chooses trtllm-custom).
    std::vector<std::string> providers;
};

struct Found {
    Origin origin = Origin::missing;
    Estimate time_ns;      // of one launch
    std::string provider;  // provider[+variant]
    std::string from;      // the shapes it comes from, or why there is none
    double octaves = 0;    // how far the farthest of them is
};

// Not for several threads: what was found is kept.
class Lookup {
   public:
    // `kernels` and `card` must outlive it.
    Lookup(const KernelSet& kernels, const Card& card);
    // `decoding`: the step has no prefill, so that it is launched as one CUDA graph.
    [[nodiscard]] const Found& find(const Operator& each, const Layout& layout,
                                    const Choice& choice, bool decoding);
    [[nodiscard]] const Card& card() const { return card_; }

   private:
    struct Request;
    [[nodiscard]] Found search(const Request& request) const;
    [[nodiscard]] Found in_sources(const Request& request, Precision precision) const;
    [[nodiscard]] Found in_source(const Source& source, const Request& request) const;
    [[nodiscard]] Found chunk(const Request& request) const;
    [[nodiscard]] Found without(const Request& request) const;

    const Card& card_;
    std::vector<std::vector<Source>> sources_;  // by op_index
    std::unordered_map<std::string, Found> memo_;
};

}  // namespace etalon::cost
