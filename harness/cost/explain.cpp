#include "harness/cost/explain.h"

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {
namespace {

std::vector<Step> steps_in(Phase phase, std::int64_t batch, std::int64_t context,
                           std::int64_t chunk) {
    switch (phase) {
        case Phase::decode:
            return {decode_step(batch, context)};
        case Phase::prefill:
            return {prefill_step(context)};
        case Phase::both:
            return {decode_step(batch, context), prefill_step(context)};
        case Phase::mixed:
            break;
    }
    if (chunk == 0) {
        throw usage_error("--phase mixed needs --chunk, the tokens of the prefill chunk");
    }
    Step step = prefill_step(chunk, std::max<std::int64_t>(0, context - chunk));
    step.decoding = batch;
    step.context = context;
    return {step};
}

}  // namespace

Phase parse_phase(std::string_view text) {
    if (text == "decode") return Phase::decode;
    if (text == "prefill") return Phase::prefill;
    if (text == "both") return Phase::both;
    if (text == "mixed") return Phase::mixed;
    const std::vector<std::string> known = {"decode", "prefill", "both", "mixed"};
    throw usage_error(unknown_name("phase", text, known));
}

std::vector<Explained> explain(const Grid& grid, const std::vector<KernelSet>& sets,
                               const std::vector<Card>& cards, Phase phase) {
    std::vector<Explained> out;
    for (const KernelSet& set : sets) {
        const Card card = card_of(cards, set);
        Lookup lookup(set, card);
        for (const Configuration& c : configurations(grid)) {
            for (const std::int64_t context : grid.isl) {
                for (const std::int64_t batch : grid.batches) {
                    for (const Step& step : steps_in(phase, batch, context, grid.chunk)) {
                        out.push_back({c.model->name, card.name, set.group_text(),
                                       kernels_text(c.choice), c.layout,
                                       estimate(*c.model, step, c.layout, c.choice, lookup)});
                    }
                }
            }
        }
    }
    return out;
}

}  // namespace etalon::cost
