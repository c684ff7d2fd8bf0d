#include "harness/cost/serving.h"

#include <algorithm>
#include <cmath>

namespace etalon::cost {
namespace {

Estimate scaled(const Estimate& time, double factor) {
    return {time.value * factor, time.lo * factor, time.hi * factor};
}

// The same composition of the same kernels: what one is off, the other is too, so halves add up.
Estimate sum(const Estimate& a, const Estimate& b) {
    return {a.value + b.value, a.lo + b.lo, a.hi + b.hi};
}

class Totals {
   public:
    Totals(const Model& model, const Layout& layout, const Choice& choice, Lookup& lookup,
           Served& served)
        : model_(model), layout_(layout), choice_(choice), lookup_(lookup), served_(served) {}

    // Time of the step; `weight` is how often it comes in an output token's time.
    Estimate add(const Step& step, double weight) {
        const StepEstimate e = estimate(model_, step, layout_, choice_, lookup_);
        served_.missing.insert(served_.missing.end(), e.missing.begin(), e.missing.end());
        served_.unvalidated = served_.unvalidated || e.unvalidated;
        const double time = weight * e.time_ns.value;
        served_.measured += time * e.measured;
        served_.interpolated += time * e.interpolated;
        served_.modelled += time * e.modelled;
        weighed_ += time;
        return e.time_ns;
    }
    ~Totals() {
        if (weighed_ > 0) {
            for (double* share : {&served_.measured, &served_.interpolated, &served_.modelled}) {
                *share /= weighed_;
            }
        }
        std::sort(served_.missing.begin(), served_.missing.end());
        served_.missing.erase(std::unique(served_.missing.begin(), served_.missing.end()),
                              served_.missing.end());
    }
    Totals(const Totals&) = delete;
    Totals& operator=(const Totals&) = delete;

   private:
    const Model& model_;
    const Layout& layout_;
    const Choice& choice_;
    Lookup& lookup_;
    Served& served_;
    double weighed_ = 0;
};

}  // namespace

std::int64_t kv_capacity(const Model& model, const Layout& layout, const Workload& workload,
                         double memory_bytes) {
    const double left = usable_share * memory_bytes - weight_bytes(model, layout) - runtime_bytes;
    const double each = kv_bytes(model, layout, workload.isl + workload.osl);
    return left <= 0 ? 0 : static_cast<std::int64_t>(std::min(left / each, 1e9));
}

bool Served::meets(const Limits& limits) const {
    if (!known()) return false;
    return (!limits.tpot_ms || tpot_ns.value <= 1e6 * *limits.tpot_ms) &&
           (!limits.ttft_ms || ttft_ns.value <= 1e6 * *limits.ttft_ms);
}

std::vector<Step> steps_of(const Workload& workload, std::int64_t batch) {
    std::vector<Step> steps = {decode_step(batch, workload.isl + workload.osl / 2)};
    if (workload.chunk == 0 || workload.chunk >= workload.isl) {
        steps.push_back(prefill_step(workload.isl));
        return steps;
    }
    // One chunk a step, beside the sequences that decode.
    for (std::int64_t at = 0; at < workload.isl; at += workload.chunk) {
        Step mixed = prefill_step(std::min(workload.chunk, workload.isl - at), at);
        mixed.decoding = batch;
        mixed.context = steps[0].context;
        steps.push_back(mixed);
    }
    return steps;
}

Served serve(const Model& model, const Layout& layout, const Choice& choice,
             const Workload& workload, std::int64_t batch, Lookup& lookup) {
    Served out;
    out.asked = batch;
    out.capacity = kv_capacity(model, layout, workload, lookup.card().memory_bytes);
    out.batch = std::min(batch, out.capacity);
    if (out.batch == 0) return out;
    const auto in_flight = static_cast<double>(out.batch);
    const auto osl = static_cast<double>(workload.osl);
    const double fresh = 1 - workload.cache_hit;
    const std::vector<Step> steps = steps_of(workload, out.batch);  // decode, then the prompt's
    {
        Totals totals(model, layout, choice, lookup, out);
        // Steps of the prompt for each output token: all prompts together, one step a chunk.
        const double each = in_flight * fresh / osl;
        const bool mixed = steps[1].decoding > 0;
        const double apart =
            mixed ? std::max(0.0, 1 - each * static_cast<double>(steps.size() - 1)) : 1;
        out.decode_ns = totals.add(steps[0], apart);
        for (std::size_t i = 1; i < steps.size(); ++i) {
            out.prefill_ns = sum(out.prefill_ns, totals.add(steps[i], each));
        }
        out.tpot_ns = sum(scaled(out.decode_ns, apart), scaled(out.prefill_ns, each));
        out.ttft_ns = scaled(out.prefill_ns, fresh);
    }
    if (out.batch > 1) out.ttft_ns = sum(out.ttft_ns, out.decode_ns);
    if (out.tpot_ns.value > 0) {
        out.tokens_per_s = in_flight / out.tpot_ns.value * 1e9;
        out.requests_per_s = out.tokens_per_s / osl;
    }
    return out;
}

std::vector<bool> pareto(const std::vector<double>& tpot, const std::vector<double>& throughput) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < tpot.size(); ++i) {
        if (std::isfinite(tpot[i]) && std::isfinite(throughput[i])) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return tpot[a] != tpot[b] ? tpot[a] < tpot[b] : throughput[a] > throughput[b];
    });
    std::vector<bool> on(tpot.size());
    double most = -1;
    for (const std::size_t i : order) {
        on[i] = throughput[i] > most;
        most = std::max(most, throughput[i]);
    }
    return on;
}

}  // namespace etalon::cost
