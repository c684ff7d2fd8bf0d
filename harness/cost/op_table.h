// The one place that knows how the operators of a step are called: names, axes, and how a time is
// carried from one shape to another. Ops that bench/ has (gemm, rmsnorm, ...) are named as there;
// when it gains another, its line here is all that has to follow.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/case.h"
#include "harness/core/precision.h"

namespace etalon::cost {

namespace op {
inline constexpr const char* gemm = "gemm";                            // m, n, k
inline constexpr const char* grouped_gemm = "grouped_gemm";            // experts, m, n, k
inline constexpr const char* batched_gemm = "batched_gemm";            // batch, m, n, k
inline constexpr const char* attention_prefill = "attention_prefill";  // see the table
inline constexpr const char* attention_decode = "attention_decode";
inline constexpr const char* mla_decode = "mla_decode";
inline constexpr const char* all_reduce = "all_reduce";  // gpus, elements
inline constexpr const char* rmsnorm = "rmsnorm";        // rows, cols; as all below
inline constexpr const char* add_rmsnorm = "add_rmsnorm";
inline constexpr const char* add = "add";
inline constexpr const char* silu_mul = "silu_mul";
inline constexpr const char* gelu_mul = "gelu_mul";
inline constexpr const char* silu = "silu";
inline constexpr const char* gelu = "gelu";
inline constexpr const char* mul = "mul";
inline constexpr const char* quantize = "quantize";
inline constexpr const char* embedding = "embedding";
inline constexpr const char* sampling = "sampling";
inline constexpr const char* topk = "topk";
inline constexpr const char* moe_permute = "moe_permute";
inline constexpr const char* moe_combine = "moe_combine";
inline constexpr const char* rope = "rope";  // rows, heads, kv_heads, head_dim; as the two below
inline constexpr const char* qk_norm = "qk_norm";
inline constexpr const char* kv_append = "kv_append";
}  // namespace op

// What may be done where no measurement of the op is near.
enum class Without {
    missing,    // nothing: matrix products, attention and communication are never made up
    pointwise,  // least bytes at copy bandwidth and the time of a small kernel
    grouped     // the utilisation of one gemm as wide as all experts together
};

struct OpInfo {
    const char* name;
    // Time is interpolated along these two; "" where there is one only.
    std::array<const char*, 2> along;
    // Utilisation is borrowed between values of these.
    std::vector<const char*> shape;
    // In `axes` and in neither list above: never mixed. Left out of a case at this value.
    std::vector<const char*> exact;
    std::vector<const char*> axes;  // in the order of the case id
    Without without = Without::missing;
    double bytes_per_element = 0;  // row kernels: moved for each of rows·cols
    bool square_root = false;      // quadratic in along[1]: √t is interpolated, not t
};

[[nodiscard]] const std::vector<OpInfo>& op_table();
// What an op has to do at least, from its axes alone; the same for a shape that is asked for and
// for one that was measured. `precision` is that of its inputs (attention: of keys and values).
struct LeastWork {
    double flop = 0, bytes = 0;
};
[[nodiscard]] LeastWork least_work(const OpInfo& info, Precision precision,
                                   const std::vector<Axis>& axes);
// The value of an axis, default_of where it is left out.
[[nodiscard]] std::int64_t axis_of(const std::vector<Axis>& axes, std::string_view name);

// nullptr where the table has no such op.
[[nodiscard]] const OpInfo* find_op(std::string_view name);
// Position in op_table(), −1 where unknown.
[[nodiscard]] int op_index(std::string_view name);

// Axes that are left out of an id at this value; all others must be given.
[[nodiscard]] std::int64_t default_of(std::string_view axis);

// --- providers ---------------------------------------------------------------------------------
// What is measured together with the op by a foreign provider, so that it is not charged twice.
// Origin: harness notes of the published tables (ai-dynamo/aiconfigurator, commit 095f58a5).
[[nodiscard]] bool attention_includes_rope(std::string_view provider);
// A provider's own all-reduce and its variants are one family: "trtllm" chooses "trtllm-custom".
[[nodiscard]] bool same_family(std::string_view wanted, std::string_view provider);

// --- precisions --------------------------------------------------------------------------------
// A precision as foreign tables write it: fp8_dynamic is fp8 in the variant `dynamic`.
struct NamedPrecision {
    Precision precision = Precision::bf16;
    std::string variant;
};
[[nodiscard]] NamedPrecision parse_named_precision(std::string_view text);

}  // namespace etalon::cost
