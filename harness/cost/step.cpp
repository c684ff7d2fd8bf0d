#include "harness/cost/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/cost/op_table.h"

namespace etalon::cost {
namespace {

constexpr double activation_bytes = 2;  // bf16 between the operators

double real(std::int64_t value) {
    return static_cast<double>(value);
}

double element_bytes(Precision precision) {
    return real(static_cast<std::int64_t>(bytes_of(input_dtype(precision))));
}

std::int64_t kv_heads_on(const Model& model, int tp) {
    return std::max<std::int64_t>(1, model.kv_heads / tp);
}

bool scaled(Precision precision) {
    return precision == Precision::fp8 || precision == Precision::int8;
}

// Adds operators of one layer, `layers` times.
class Composer {
   public:
    Composer(const Model& model, const Step& step, const Layout& layout)
        : model_(model), step_(step), layout_(layout), t_(layout.tp), tokens_(step.tokens()) {}

    std::vector<Operator> run() {
        rows(op::embedding, "embedding", tokens_, model_.hidden, 1);
        norms();
        if (model_.mla) {
            latent_attention();
        } else {
            attention();
        }
        if (model_.dense_layers() > 0) mlp(model_.ffn, real(model_.dense_layers()), "");
        if (model_.moe) experts();
        if (t_ > 1) {
            // Behind attention and behind the MLP.
            const double count = 2 * real(model_.layers);
            const std::int64_t elements = tokens_ * model_.hidden;
            push({.op = op::all_reduce,
                  .axes = {{"gpus", t_}, {"elements", elements}},
                  .role = "all_reduce",
                  .count = count});
        }
        head();
        return std::move(out_);
    }

   private:
    void push(Operator each) {
        const LeastWork least = least_work(*find_op(each.op), each.precision, each.axes);
        each.flop = least.flop;
        each.bytes = least.bytes;
        out_.push_back(std::move(each));
    }

    void rows(const char* name, const char* role, std::int64_t count_rows, std::int64_t cols,
              double count, bool unvalidated = false) {
        push({.op = name,
              .axes = {{"rows", count_rows}, {"cols", cols}},
              .role = role,
              .count = count,
              .unvalidated = unvalidated});
    }

    // Static scales are applied by the kernel before.
    void quantize_input(const std::string& role, std::int64_t m, std::int64_t k, double count) {
        if (!scaled(layout_.precision) || layout_.static_scales) return;
        push({.op = op::quantize,
              .precision = layout_.precision,
              .axes = {{"rows", m}, {"cols", k}},
              .role = role + "_input",
              .count = count,
              .part_of = role});
    }

    void gemm(const std::string& role, std::int64_t m, std::int64_t n, std::int64_t k, double count,
              Precision precision) {
        push({.op = op::gemm,
              .precision = precision,
              .axes = {{"m", m}, {"n", n}, {"k", k}},
              .role = role,
              .count = count});
    }
    void linear(const std::string& role, std::int64_t m, std::int64_t n, std::int64_t k,
                double count) {
        quantize_input(role, m, k, count);
        gemm(role, m, n, k, count, layout_.precision);
    }

    void norms() {
        const double count = 2 * real(model_.layers);
        const double extra = real(model_.norms_per_layer - 2) * real(model_.layers);
        if (layout_.fused) {
            rows(op::add_rmsnorm, "add_norm", tokens_, model_.hidden, count);
        } else {
            rows(op::add, "add", tokens_, model_.hidden, count);
            rows(op::rmsnorm, "norm", tokens_, model_.hidden, count);
        }
        if (extra > 0) rows(op::rmsnorm, "post_norm", tokens_, model_.hidden, extra);
        rows(op::rmsnorm, "final_norm", step_.sequences(), model_.hidden, 1);
    }

    // On queries and keys of every layer; a provider may do it inside its attention.
    void heads_op(const char* name, Precision precision, std::int64_t kv_heads,
                  std::int64_t head_dim) {
        push({.op = name,
              .precision = precision,
              .axes = {{"rows", tokens_},
                       {"heads", model_.heads / t_},
                       {"kv_heads", kv_heads},
                       {"head_dim", head_dim}},
              .role = name,
              .count = real(model_.layers),
              .part_of = std::string_view(name) == op::qk_norm ? "" : "attention"});
    }

    void attention() {
        const std::int64_t heads = model_.heads / t_, kv = kv_heads_on(model_, t_),
                           d = model_.head_dim, h = model_.hidden;
        const double layers = real(model_.layers);
        linear("qkv", tokens_, heads * d + 2 * kv * d, h, layers);
        if (model_.qk_norm) heads_op(op::qk_norm, Precision::bf16, kv, d);
        heads_op(op::rope, Precision::bf16, kv, d);
        heads_op(op::kv_append, layout_.kv_precision, kv, d);
        const double windowed = real(model_.windowed_layers);
        for (const bool window : {false, true}) {
            const double count = window ? windowed : layers - windowed;
            if (count <= 0) continue;
            if (step_.decoding > 0) decode_attention(window, count);
            if (step_.prompts > 0) prefill_attention(window, count);
        }
        linear("o", tokens_, h, heads * d, layers);
    }

    void decode_attention(bool window, double count) {
        const std::int64_t s = window ? std::min(step_.context, model_.window) : step_.context;
        push({.op = op::attention_decode,
              .precision = layout_.kv_precision,
              .axes = {{"batch", step_.decoding},
                       {"heads", model_.heads / t_},
                       {"kv_heads", kv_heads_on(model_, t_)},
                       {"head_dim", model_.head_dim},
                       {"context", s}},
              .role = "attention",
              .count = count});
    }

    void prefill_attention(bool window, double count) {
        Operator each{.op = op::attention_prefill,
                      .precision = layout_.kv_precision,
                      .axes = {{"batch", step_.prompts},
                               {"heads", model_.heads / t_},
                               {"kv_heads", kv_heads_on(model_, t_)},
                               {"head_dim", model_.head_dim},
                               {"seq", step_.prompt},
                               {"causal", 1}},
                      .role = "attention",
                      .count = count};
        if (step_.cached > 0) each.axes.push_back({"cached", step_.cached});
        // A window that nothing falls out of is none.
        if (window && model_.window < step_.prompt + step_.cached) {
            each.axes.push_back({"window", model_.window});
        }
        push(std::move(each));
    }

    // DeepSeek-V2/V3: queries and keys go through low-rank projections; in decode the key's and the
    // value's up-projections are absorbed into per-head products around one 576-wide attention.
    void latent_attention() {
        const LatentAttention& a = *model_.mla;
        const std::int64_t heads = model_.heads / t_, h = model_.hidden,
                           kv_width = a.kv_rank + a.rope_dim, qk = a.nope_dim + a.rope_dim;
        const double layers = real(model_.layers);
        linear("q_a_kv_a", tokens_, a.q_rank + kv_width, h, layers);  // on every GPU
        rows(op::rmsnorm, "q_a_norm", tokens_, a.q_rank, layers);
        rows(op::rmsnorm, "kv_a_norm", tokens_, a.kv_rank, layers);
        linear("q_b", tokens_, heads * qk, a.q_rank, layers);
        heads_op(op::rope, Precision::bf16, 1, a.rope_dim);
        // One vector, not a key and a value: as a head of half its width.
        heads_op(op::kv_append, layout_.kv_precision, 1, kv_width / 2);
        if (step_.decoding > 0) {
            per_head("absorb_k", step_.decoding, a.kv_rank, a.nope_dim);
            push({.op = op::mla_decode,
                  .precision = layout_.kv_precision,
                  .axes = {{"batch", step_.decoding},
                           {"heads", heads},
                           {"kv_rank", a.kv_rank},
                           {"rope_dim", a.rope_dim},
                           {"context", step_.context}},
                  .role = "attention",
                  .count = layers});
            per_head("absorb_v", step_.decoding, a.value_dim, a.kv_rank);
        }
        if (step_.prompts > 0) {
            // Not absorbed: keys and values of every token are made anew, then ordinary attention.
            linear("kv_b", step_.prompts * (step_.prompt + step_.cached),
                   heads * (a.nope_dim + a.value_dim), a.kv_rank, layers);
            Operator each{.op = op::attention_prefill,
                          .precision = Precision::bf16,
                          .axes = {{"batch", step_.prompts},
                                   {"heads", heads},
                                   {"kv_heads", heads},
                                   {"head_dim", qk},
                                   {"seq", step_.prompt},
                                   {"causal", 1}},
                          .role = "attention",
                          .count = layers};
            if (step_.cached > 0) each.axes.push_back({"cached", step_.cached});
            each.axes.push_back({"value_dim", a.value_dim});
            push(std::move(each));
        }
        linear("o", tokens_, h, heads * a.value_dim, layers);
    }

    // One product (m, n, k) for each head of this GPU.
    void per_head(const char* role, std::int64_t m, std::int64_t n, std::int64_t k) {
        push({.op = op::batched_gemm,
              .axes = {{"batch", model_.heads / t_}, {"m", m}, {"n", n}, {"k", k}},
              .role = role,
              .count = real(model_.layers)});
    }

    void activation(std::int64_t count_rows, std::int64_t cols, double count, const char* role,
                    bool unvalidated = false) {
        if (layout_.fused) {
            rows(model_.gelu ? op::gelu_mul : op::silu_mul, role, count_rows, cols, count,
                 unvalidated);
        } else {
            rows(model_.gelu ? op::gelu : op::silu, role, count_rows, cols, count, unvalidated);
            rows(op::mul, role, count_rows, cols, count, unvalidated);
        }
    }

    void mlp(std::int64_t width, double layers, const std::string& prefix) {
        const std::int64_t h = model_.hidden, f = width / t_;
        linear(prefix + "gate_up", tokens_, 2 * f, h, layers);
        activation(tokens_, f, layers, "act_mul");
        linear(prefix + "down", tokens_, h, f, layers);
    }

    void experts() {
        const Experts& moe = *model_.moe;
        const double layers = real(model_.moe_layers());
        const std::int64_t h = model_.hidden;
        const std::int64_t width = moe.width * layout_.ep / t_;  // split over tp/ep GPUs
        gemm("router", tokens_, moe.experts, h, layers, Precision::bf16);
        rows(op::topk, "router_topk", tokens_, moe.experts, layers);

        // Tokens that reach the busiest of ep GPUs, uniform routing: the expected maximum of a
        // multinomial is about mean + √(2·mean·(1 − 1/ep)·ln ep).
        const double all = real(tokens_) * real(moe.active);
        const double mean = all / layout_.ep;
        const double busiest =
            mean + std::sqrt(2 * mean * (1 - 1.0 / layout_.ep) * std::log(layout_.ep));
        const auto pairs = static_cast<std::int64_t>(std::ceil(std::min(busiest, all) - 1e-9));
        const double seen = active_experts(real(moe.experts), real(moe.active), real(tokens_));
        const auto active = std::max<std::int64_t>(1, std::llround(seen / layout_.ep));
        rows(op::moe_permute, "moe_permute", pairs, h, layers, true);
        grouped("experts_gate_up", active, pairs, 2 * width, h, layers);
        activation(pairs, width, layers, "experts_act_mul", true);
        grouped("experts_down", active, pairs, h, width, layers);
        rows(op::moe_combine, "moe_combine", pairs, h, layers, true);
        if (moe.shared > 0) mlp(moe.shared * moe.width, layers, "shared_");
    }

    void grouped(const std::string& role, std::int64_t active, std::int64_t m, std::int64_t n,
                 std::int64_t k, double count) {
        quantize_input(role, m, k, count);
        push({.op = op::grouped_gemm,
              .precision = layout_.precision,
              .axes = {{"experts", active}, {"m", m}, {"n", n}, {"k", k}},
              .role = role,
              .count = count,
              .unvalidated = true});
    }

    // Only the last position of each sequence, and in bf16: checkpoints leave the head unquantised.
    void head() {
        const std::int64_t v = (model_.vocab + t_ - 1) / t_;
        gemm("lm_head", step_.sequences(), v, model_.hidden, 1, Precision::bf16);
        rows(op::sampling, "sampling", step_.sequences(), v, 1);
    }

    const Model& model_;
    const Step& step_;
    const Layout& layout_;
    std::int64_t t_, tokens_;
    std::vector<Operator> out_;
};

}  // namespace

Step decode_step(std::int64_t batch, std::int64_t context) {
    return {.decoding = batch, .context = context};
}

Step prefill_step(std::int64_t tokens, std::int64_t cached) {
    return {.prompts = 1, .prompt = tokens, .cached = cached};
}

std::string Step::text() const {
    std::string out;
    if (decoding > 0) out = fmt::format("decode of {} at context {} tokens", decoding, context);
    if (prompts > 0) {
        out +=
            fmt::format("{}prefill of {} x {} tokens", out.empty() ? "" : " + ", prompts, prompt);
        if (cached > 0) out += fmt::format(" behind {} cached", cached);
    }
    return out;
}

std::int64_t Operator::at(std::string_view axis) const {
    return axis_of(axes, axis);
}

std::string Operator::problem_id() const {
    std::string out = fmt::format("{}/{}/", op, name(precision));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        out += fmt::format("{}{}={}", i == 0 ? "" : ",", axes[i].name, axes[i].value);
    }
    return out;
}

void check_layout(const Model& model, const Layout& layout) {
    const auto refuse = [&](std::int64_t size, const char* what) {
        if (size % layout.tp != 0) {
            throw usage_error(fmt::format("--tp {} does not divide the {} {} of {}; give a divisor",
                                          layout.tp, size, what, model.name));
        }
    };
    refuse(model.heads, "heads");
    if (model.dense_layers() > 0) refuse(model.ffn, "columns of the MLP");
    if (layout.ep == 1 && !model.moe) return;
    if (!model.moe) {
        throw usage_error(fmt::format("{} has no experts to share; leave out --ep", model.name));
    }
    if (layout.tp % layout.ep != 0) {
        throw usage_error(
            fmt::format("--ep {} does not divide --tp {}; experts are shared among "
                        "the GPUs of a tensor-parallel group",
                        layout.ep, layout.tp));
    }
    if (model.moe->experts % layout.ep != 0) {
        throw usage_error(fmt::format("--ep {} does not divide the {} experts of {}", layout.ep,
                                      model.moe->experts, model.name));
    }
    if (model.moe->width * layout.ep % layout.tp != 0) {
        throw usage_error(
            fmt::format("--tp {} with --ep {} does not divide the {} columns of an "
                        "expert of {}",
                        layout.tp, layout.ep, model.moe->width, model.name));
    }
}

std::vector<Operator> compose(const Model& model, const Step& step, const Layout& layout) {
    return Composer(model, step, layout).run();
}

double active_experts(double experts, double active, double tokens) {
    return experts * (1 - std::pow(1 - active / experts, tokens));
}

double weight_bytes(const Model& model, const Layout& layout) {
    const double all = model.total_weights(), plain = model.embedding_weights();
    return ((all - plain) * element_bytes(layout.precision) + plain * activation_bytes) / layout.tp;
}

double kv_bytes(const Model& model, const Layout& layout, std::int64_t tokens) {
    const double c = element_bytes(layout.kv_precision);
    if (model.mla) {  // one vector for all heads: not divided by t
        return real(model.layers) * real(model.mla->kv_rank + model.mla->rope_dim) * c *
               real(tokens);
    }
    const double full = real(model.layers - model.windowed_layers) * real(tokens);
    const double windowed = real(model.windowed_layers) *
                            real(std::min(tokens, std::max<std::int64_t>(model.window, 0)));
    return 2 * real(kv_heads_on(model, layout.tp) * model.head_dim) * c * (full + windowed);
}

}  // namespace etalon::cost
