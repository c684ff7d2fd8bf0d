// One step of a model on one GPU of a tensor-parallel group, as a list of operators with exact
// shapes. Formulas: ../shared/cost_model.md of the project; symbols as there and in README.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/case.h"
#include "harness/core/precision.h"
#include "harness/cost/model.h"

namespace etalon::cost {

// What one step computes: sequences that decode one token each, prompts that prefill, or both.
struct Step {
    std::int64_t decoding = 0;  // sequences
    std::int64_t context = 0;   // tokens each of them attends to
    std::int64_t prompts = 0;   // sequences that prefill
    std::int64_t prompt = 0;    // new tokens of each
    std::int64_t cached = 0;    // tokens of each that are in the cache already (chunked prefill)

    [[nodiscard]] std::int64_t tokens() const { return decoding + prompts * prompt; }
    [[nodiscard]] std::int64_t sequences() const { return decoding + prompts; }
    [[nodiscard]] std::string text() const;
    auto operator<=>(const Step&) const = default;
};
[[nodiscard]] Step decode_step(std::int64_t batch, std::int64_t context);
[[nodiscard]] Step prefill_step(std::int64_t tokens, std::int64_t cached = 0);

// How the model is laid out. `ep` GPUs of the `tp` share the experts; each expert is then split
// over tp/ep of them.
struct Layout {
    int tp = 1, ep = 1;
    Precision precision = Precision::bf16;     // of the linear layers
    Precision kv_precision = Precision::bf16;  // of the cache
    bool static_scales = false;                // activation scales known beforehand (fp8, int8)
    bool fused = true;                         // add+norm and act·mul as one kernel each
    auto operator<=>(const Layout&) const = default;
};
// Throws a usage Error where the model cannot be split so.
void check_layout(const Model& model, const Layout& layout);

struct Operator {
    std::string op;
    Precision precision = Precision::bf16;
    std::vector<Axis> axes;      // in the order of op_table
    std::string role;            // qkv, o, gate_up, ...
    double count = 0;            // launches in the step, on each GPU
    std::string part_of;         // quantize: the gemm whose input it makes; rope: "attention"
    bool unvalidated = false;    // MoE: published compositions are 24 to 44 % low
    double flop = 0, bytes = 0;  // the least of one launch
    [[nodiscard]] std::int64_t at(std::string_view axis) const;  // default_of where left out
    [[nodiscard]] std::string problem_id() const;                // op/precision/axes
};

[[nodiscard]] std::vector<Operator> compose(const Model& model, const Step& step,
                                            const Layout& layout);

// Weights on each GPU, and cache of one sequence of this length, in bytes.
[[nodiscard]] double weight_bytes(const Model& model, const Layout& layout);
[[nodiscard]] double kv_bytes(const Model& model, const Layout& layout, std::int64_t tokens);

// Experts of `experts` that at least one of `tokens` tokens is sent to, were routing uniform:
// E·(1 − (1 − k/E)^T).
[[nodiscard]] double active_experts(double experts, double active, double tokens);

}  // namespace etalon::cost
