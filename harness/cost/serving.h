// A served request: continuous batching with B requests in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cost/estimate.h"

namespace etalon::cost {

struct Workload {
    std::int64_t isl = 1024, osl = 1024;  // tokens in and out of a request
    double cache_hit = 0;                 // share of the input that the prefix cache holds, r
    std::int64_t chunk = 0;               // tokens of a prefill chunk; 0: whole prompts
};

struct Limits {
    std::optional<double> ttft_ms, tpot_ms;
};

// Memory the runtime keeps for itself, and the share of HBM it may use at all.
inline constexpr double runtime_bytes = 3.5e9, usable_share = 0.9;

// Requests that fit: B ≤ (0.9·HBM − weights/t − 3.5 GB)/(cache of ISL + OSL tokens). 0: not even
// the weights and one request.
[[nodiscard]] std::int64_t kv_capacity(const Model& model, const Layout& layout,
                                       const Workload& workload, double memory_bytes);

// What has to be known for this many in flight: the steps that serve() composes.
[[nodiscard]] std::vector<Step> steps_of(const Workload& workload, std::int64_t batch);

struct Served {
    std::int64_t asked = 0;  // requests in flight that were asked for
    std::int64_t batch = 0;  // that run: at most what the cache holds
    std::int64_t capacity = 0;
    Estimate decode_ns, prefill_ns;  // one decode step; one whole prompt
    Estimate tpot_ns, ttft_ns;
    double tokens_per_s = 0, requests_per_s = 0;  // of the replica, output tokens
    double measured = 0, interpolated = 0, modelled = 0;
    bool unvalidated = false;
    std::vector<std::string> missing;  // problem ids; figures are of no use while there are any
    [[nodiscard]] bool known() const { return missing.empty() && batch > 0; }
    [[nodiscard]] bool limited() const { return batch < asked; }
    [[nodiscard]] bool meets(const Limits& limits) const;
};

// TPOT = t_decode(B, ISL + OSL/2) + B·t_prefill(ISL)/OSL. With chunks, a share
// φ = B·(chunks of a prompt)/OSL of the steps carries one:
// TPOT = max(0, 1 − φ)·t_decode + φ·t_mixed.
// TTFT = t_prefill(ISL) and, where others are decoding, one step that is waited for; queueing is
// not in it (see Fleet).
[[nodiscard]] Served serve(const Model& model, const Layout& layout, const Choice& choice,
                           const Workload& workload, std::int64_t batch, Lookup& lookup);

// Which points are on the frontier of TPOT (less is better) against tokens/s per GPU (more is).
// `tpot` and `throughput` are of one length; not known: NaN, never on it.
[[nodiscard]] std::vector<bool> pareto(const std::vector<double>& tpot,
                                       const std::vector<double>& throughput);

}  // namespace etalon::cost
