// Predicted against served: runs of a model on a real server, composed from kernel times alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cost/serving.h"

namespace etalon::cost {

struct ServedRun {
    std::string backend;  // trtllm, vllm: also the family of its kernels
    std::int64_t isl = 0, osl = 0, batch = 0;
    int tp = 1;
    double tpot_ms = 0;
};
// CSV with a header; columns backend, isl, osl, batch_size, tp_size, silicon_tpot_ms; others are
// passed over.
[[nodiscard]] std::vector<ServedRun> parse_served(std::string_view csv, const std::string& file);

struct ServedError {
    ServedRun run;
    Served predicted;
    double relative = 0;  // predicted / served − 1
};
// fp8 weights; TensorRT-LLM with static scales and an fp8 cache, vLLM with dynamic scales and a
// bf16 cache, as they were served. Nothing is fitted.
[[nodiscard]] std::vector<ServedError> check_served(const Model& model,
                                                    const std::vector<ServedRun>& runs,
                                                    Lookup& lookup);
[[nodiscard]] double mean_absolute(const std::vector<ServedError>& errors,
                                   const std::string& backend);

}  // namespace etalon::cost
