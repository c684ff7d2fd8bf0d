// From seconds of GPUs to $ per million tokens, and how many GPUs a load needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cost/serving.h"

namespace etalon::cost {

// How a request's cost is spread over its tokens. All three sum to the same request.
enum class Convention {
    additive,  // input pays for prefill, output for decode
    blended,   // one price for input and output
    output     // all on output
};
[[nodiscard]] std::string_view name(Convention convention);
[[nodiscard]] std::string_view meaning(Convention convention);
[[nodiscard]] Convention parse_convention(std::string_view text);

struct Rate {
    double usd_per_gpu_hour = 0;  // P
    int gpus = 1;                 // G, of one replica
    // U: offered load over the largest load that meets the latency target; never what nvidia-smi
    // shows, which is the share of time in which any kernel runs.
    double utilisation = 1;
};

struct Cost {
    Estimate input_usd, output_usd;  // per million tokens
    Estimate request_usd;            // of one request
};
// ISL·input + OSL·output = 10⁶·request in every convention.
[[nodiscard]] Cost cost_of(const Served& served, const Workload& workload, const Rate& rate,
                           Convention convention);

// --- fleets --------------------------------------------------------------------------------------
struct WhatIf {
    double from = 0, to = 0;  // utilisation, 0 to 1
    int gpus = 0;             // that run now
    double rps = 0;           // requests per second that they serve
};
// "30%..60%" or "0.3..0.6". Throws a usage Error.
void parse_utilisation_range(std::string_view text, WhatIf& out);
// "60%" or "0.6", over 0 and up to 1.
[[nodiscard]] double parse_share(std::string_view text, std::string_view what);

// Whole replicas of `replica` GPUs for this load at this utilisation, where one replica serves at
// most `capacity_rps`.
[[nodiscard]] int gpus_needed(double rps, double utilisation, double capacity_rps, int replica);

// A GPU that serves rps/(gpus·from) at most goes on doing so: GPUs at the new utilisation.
[[nodiscard]] int textbook_gpus(const WhatIf& what_if, int replica);

// Mean wait for one of B places at utilisation U, service time S = OSL·TPOT (Sakasegawa 1977, for
// c servers): S·U^(√(2(B+1)) − 1)/(B·(1 − U)).
[[nodiscard]] double mean_wait_ns(double service_ns, std::int64_t places, double utilisation);

// The batch that serves most at this utilisation with every limit met, the wait for a place in
// TTFT; nullopt where none does.
struct Operating {
    std::int64_t batch = 0;
    double capacity_rps = 0;  // of a replica
    double tpot_ms = 0, ttft_ms = 0;
};
[[nodiscard]] std::optional<Operating> best_operating(const std::vector<Served>& batches,
                                                      const Workload& workload,
                                                      const Limits& limits, double utilisation);

struct FleetAnswer {
    WhatIf asked;
    int replica = 1;
    int textbook_gpus = 0;
    // With the limits: what one replica may serve at each utilisation, by the model.
    std::optional<Operating> before, after;
    // Without limits, as things are now.
    std::optional<Operating> open;
    // Today's fleet, its capacity scaled by what the model says of the limits: where its
    // utilisation is of the load that meets them, and where it is of all that the GPUs could serve.
    std::optional<int> limited_gpus, limited_of_all_gpus;
    // Fleets by the model alone.
    std::optional<int> model_before_gpus, model_after_gpus;
};
[[nodiscard]] FleetAnswer answer(const WhatIf& what_if, const std::vector<Served>& batches,
                                 const Workload& workload, const Limits& limits, int replica);

}  // namespace etalon::cost
