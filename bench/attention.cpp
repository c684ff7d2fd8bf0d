// attention_prefill: the prompt's tokens among themselves and after a cached prefix.
// attention_decode: one or a few new tokens of each sequence against a cache in one piece or in
// pages.
//
// Axes are named as harness/cost asks for them. fp8: keys, values and, in prefill, queries are e4m3
// with a scale; outputs are bf16.

#include <cmath>

#include "bench/attention_problem.h"
#include "bench/ops.h"
#include "bench/reference.h"
#include "bench/tolerance.h"

namespace etalon {
namespace {

constexpr std::int64_t most_heads = 4096, most_tokens = std::int64_t{1} << 24;

// Stored fp8 values times these: any that are not 1.
constexpr double q_scale = 1.25, k_scale = 0.75, v_scale = 1.5;

class Attention : public Op {
   public:
    std::vector<Precision> precisions() const override {
        return {Precision::fp32, Precision::bf16, Precision::fp16, Precision::fp8};
    }
    // Of the CPU there is no baseline: oneDNN 3.1 has no attention.
    std::string_view baseline(DeviceKind kind) const override {
        return kind == DeviceKind::cuda ? "cudnn" : "etalon";
    }
    // Two products of the pairs that the mask lets through. Queries, and keys and values that a
    // query sees, are read once; the output is written once.
    Work work(const Problem& problem) const override {
        const AttentionProblem p = attention_problem(problem);
        double pairs = 0, read = 0, tokens = 0;
        for (const AttentionSpan& each : p.sequences) {
            pairs += each.pairs();
            read += static_cast<double>(each.read());
            tokens += static_cast<double>(each.queries);
        }
        const auto heads = static_cast<double>(p.heads), kv = static_cast<double>(p.kv_heads),
                   d = static_cast<double>(p.head_dim), dv = static_cast<double>(p.value_dim);
        const auto bytes = [](DType dtype) { return static_cast<double>(bytes_of(dtype)); };
        return {
            .flop = 2 * pairs * heads * (d + dv),
            .bytes_min = read * kv * (d + dv) * bytes(input_dtype(p.precision)) +
                         tokens * heads *
                             (d * bytes(p.query_dtype()) + dv * bytes(output_dtype(p.precision)))};
    }
    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        const AttentionProblem p = attention_problem(problem);
        const DType in = input_dtype(p.precision);
        const auto matrix = [](DType dtype, std::int64_t rows, std::int64_t cols) {
            return Layout{dtype, rows, cols, cols};
        };
        // Decode: a row is a head's vector of one token; prefill: a token's of all heads.
        const std::int64_t rows = p.key_tokens() * (p.decode ? p.kv_heads : 1);
        const std::int64_t k_cols = p.head_dim * (p.decode ? 1 : p.kv_heads),
                           v_cols = p.value_dim * (p.decode ? 1 : p.kv_heads);
        std::vector<TensorSpec> all = {
            {"q", Role::input, matrix(p.query_dtype(), p.query_tokens(), p.heads * p.head_dim), {}},
            {"k", Role::input, matrix(in, rows, k_cols), {}},
            {"v", Role::input, matrix(in, rows, v_cols), {}}};
        if (p.precision == Precision::fp8) {
            const auto scale = [&](const char* name, double value) {
                all.push_back({name,
                               Role::input,
                               matrix(DType::f32, 1, p.kv_heads),
                               {Fill::Kind::constant, value, value}});
            };
            scale("k_scale", k_scale);
            scale("v_scale", v_scale);
            if (!p.decode) scale("q_scale", q_scale);
        }
        all.push_back({"out",
                       Role::output,
                       matrix(output_dtype(p.precision), p.query_tokens(), p.heads * p.value_dim),
                       {}});
        return all;
    }
    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        const AttentionTables tables(attention_problem(problem), device);
        reference::attention(device, tables.arguments(buffers), outputs_f64[0].as<double>());
        device.synchronize();  // the tables go
    }

    // Weights are rounded before the second product, to the type of the values, each by itself; the
    // output once more. The mean of n values of variance 1 with log-normal weights has the variance
    // e/n: rows that see little are larger than the others.
    Tolerance tolerance(const Problem& problem) const override {
        const AttentionProblem p = attention_problem(problem);
        const DType weights =
            p.decode && p.precision == Precision::fp8 ? DType::bf16 : input_dtype(p.precision);
        // fp8: queries and keys are exact, weights have 3 bits.
        const double relative =
            unit_roundoff(output_dtype(p.precision)) + unit_roundoff(weights) + 64 * fp32_roundoff;
        double rows = 0, squares = 0, largest = 0;
        for (const AttentionSpan& each : p.sequences) {
            for (std::int64_t i = 0; i < each.queries; ++i) {
                const auto seen = static_cast<double>(std::max<std::int64_t>(1, each.seen_by(i)));
                const double variance = std::min(1.0, std::exp(1.0) / seen);
                squares += variance;
                largest = std::max(largest, variance);
                ++rows;
                if (!p.causal) break;  // all alike
            }
        }
        const double peak = std::sqrt(largest / (squares / rows));
        return {relative,
                2 * relative * peak *
                    largest_normal(static_cast<double>(p.query_tokens() * p.heads * p.value_dim))};
    }
};

std::vector<AxisSpec> head_axes() {
    return {{.name = "batch", .max = 65535, .help = "sequences"},
            {.name = "heads", .max = most_heads, .help = "query heads"},
            {.name = "kv_heads", .max = most_heads, .help = "key and value heads"},
            {.name = "head_dim", .max = 576, .help = "elements of a head"}};
}

AxisSpec ragged_axis() {
    return {.name = "ragged",
            .optional = true,
            .min = 0,
            .max = 1,
            .help = "1: lengths from a quarter of the longest to all of it"};
}

class Prefill final : public Attention {
   public:
    std::string_view name() const override { return "attention_prefill"; }
    std::string_view summary() const override {
        return "softmax(q k^T / sqrt(head_dim)) v of a prompt's tokens";
    }
    std::vector<AxisSpec> axes() const override {
        std::vector<AxisSpec> all = head_axes();
        all.push_back({.name = "seq", .max = most_tokens, .help = "new tokens of a sequence"});
        all.push_back({.name = "causal", .min = 0, .max = 1, .help = "1: nothing after itself"});
        const auto optional = [&](const char* name, std::int64_t max, const char* help) {
            all.push_back({.name = name, .optional = true, .min = 0, .max = max, .help = help});
        };
        optional("cached", most_tokens, "tokens before the new ones, keys and values only");
        optional("window", most_tokens, "the last keys that a query sees; 0: all");
        optional("value_dim", 576, "elements of a value's head; 0: head_dim");
        all.push_back(ragged_axis());
        return all;
    }
    double prior_elasticity(const Problem&) const override { return 0.8; }
};

class Decode final : public Attention {
   public:
    std::string_view name() const override { return "attention_decode"; }
    std::string_view summary() const override {
        return "softmax(q k^T / sqrt(head_dim)) v of new tokens against a cache";
    }
    std::vector<AxisSpec> axes() const override {
        std::vector<AxisSpec> all = head_axes();
        all.push_back({.name = "context", .max = most_tokens, .help = "tokens, the new ones too"});
        all.push_back({.name = "page",
                       .optional = true,
                       .min = 0,
                       .max = 4096,
                       .help = "tokens of a page of the cache, in random order; 0: in one piece"});
        all.push_back({.name = "queries",
                       .default_value = 1,
                       .optional = true,
                       .max = 64,
                       .help = "new tokens of a sequence"});
        all.push_back(ragged_axis());
        return all;
    }
    double prior_elasticity(const Problem&) const override { return 0.15; }
};

}  // namespace

std::unique_ptr<Op> make_attention_prefill() {
    return std::make_unique<Prefill>();
}
std::unique_ptr<Op> make_attention_decode() {
    return std::make_unique<Decode>();
}

}  // namespace etalon
