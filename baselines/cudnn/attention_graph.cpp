// Attention as a graph of one SDPA node.

#include <fmt/format.h>

#include <cmath>

#include "baselines/cudnn/attention.h"
#include "baselines/cudnn/frontend.h"

namespace etalon::cudnn {
namespace {

using Sizes = std::vector<std::int64_t>;

class Builder {
   public:
    Builder(fe::graph::Graph& graph, const AttentionProblem& problem) : graph_(graph), p_(problem) {
        graph.set_io_data_type(data_type(p_.query_dtype()))
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    void build() {
        const std::int64_t qh = p_.heads, kh = p_.kv_heads, d = p_.head_dim, dv = p_.value_dim;
        const DType in = input_dtype(p_.precision);
        const Tensor q = tensor("q", p_.query_dtype(), {p_.batch, qh, p_.queries, d},
                                {p_.queries * qh * d, d, qh * d, 1});
        const auto cache = [&](const char* name, std::int64_t width) {
            if (!p_.decode) {
                return tensor(name, in, {p_.batch, kh, p_.keys, width},
                              {p_.keys * kh * width, width, kh * width, 1});
            }
            const std::int64_t run = p_.page > 0 ? p_.page : p_.keys;
            const std::int64_t count = p_.page > 0 ? p_.batch * p_.pages_per_sequence() : p_.batch;
            return tensor(name, in, {count, kh, run, width},
                          {kh * run * width, run * width, width, 1});
        };
        const Tensor k = cache("k", d), v = cache("v", dv);
        const std::int64_t out_uid = ++uid_;

        auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_generate_stats(false);
        options.set_attn_scale(1.0F / std::sqrt(static_cast<float>(d)));
        if (p_.causal) {
            options.set_diagonal_alignment(p_.queries == p_.keys
                                               ? fe::DiagonalAlignment_t::TOP_LEFT
                                               : fe::DiagonalAlignment_t::BOTTOM_RIGHT);
            options.set_diagonal_band_right_bound(0);
            if (p_.window > 0) options.set_diagonal_band_left_bound(static_cast<int>(p_.window));
        }
        if (gives_lengths(p_)) {
            const auto lengths = [&](const char* name) {
                return tensor(name, DType::i32, {p_.batch, 1, 1, 1}, {1, 1, 1, 1});
            };
            options.set_padding_mask(true);
            options.set_seq_len_q(lengths("q_lengths"));
            options.set_seq_len_kv(lengths("k_lengths"));
        }
        if (p_.page > 0) {
            const std::int64_t pages = p_.pages_per_sequence();
            const auto table = [&](const char* name) {
                return tensor(name, DType::i32, {p_.batch, 1, pages, 1}, {pages, pages, 1, 1});
            };
            options.set_paged_attention_k_table(table("k_pages"));
            options.set_paged_attention_v_table(table("v_pages"));
            options.set_paged_attention_max_seq_len_kv(static_cast<int>(p_.keys));
        }
        const auto set_out = [&](const Tensor& out) {
            out->set_output(true)
                .set_uid(out_uid)
                .set_data_type(data_type(output_dtype(p_.precision)))
                .set_dim({p_.batch, qh, p_.queries, dv})
                .set_stride({p_.queries * qh * dv, dv, qh * dv, 1});
        };
        if (p_.precision != Precision::fp8) {
            set_out(graph_.sdpa(q, k, v, options)[0]);
            return;
        }
        const auto scalar = [&](const char* name) {
            return tensor(name, DType::f32, {1, 1, 1, 1}, {1, 1, 1, 1});
        };
        const Tensor descale_q = scalar("descale_q"), descale_k = scalar("descale_k"),
                     descale_v = scalar("descale_v"), descale_s = scalar("descale_s"),
                     scale_s = scalar("scale_s"), scale_o = scalar("scale_o");
        const auto results = graph_.sdpa_fp8(q, k, v, descale_q, descale_k, descale_v, descale_s,
                                             scale_s, scale_o, options);
        set_out(results[0]);
        for (const int amax : {2, 3}) {
            results[static_cast<std::size_t>(amax)]
                ->set_output(true)
                .set_uid(++uid_)
                .set_data_type(fe::DataType_t::FLOAT)
                .set_dim({1, 1, 1, 1})
                .set_stride({1, 1, 1, 1});
        }
    }

   private:
    Tensor tensor(const char* name, DType dtype, Sizes dim, Sizes stride) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(++uid_)
                                 .set_data_type(data_type(dtype))
                                 .set_dim(std::move(dim))
                                 .set_stride(std::move(stride)));
    }

    fe::graph::Graph& graph_;
    const AttentionProblem& p_;
    std::int64_t uid_ = 0;
};

}  // namespace

bool gives_lengths(const AttentionProblem& problem) {
    return problem.page > 0 || problem.ragged;
}

Definition attention_definition(const AttentionProblem& p) {
    return {fmt::format("attention of {} queries and {} keys of {}{} heads in {}{}{}{}", p.queries,
                        p.keys, p.batch, fmt::format(" x {}/{}", p.heads, p.kv_heads),
                        etalon::name(p.precision), p.causal ? ", causal" : "",
                        p.window > 0 ? fmt::format(", window {}", p.window) : "",
                        fmt::format(", head_dim {}/{}, {}page {}{}", p.head_dim, p.value_dim,
                                    p.decode ? "cache, " : "", p.page, p.ragged ? ", ragged" : "")),
            [p](fe::graph::Graph& graph) { Builder(graph, p).build(); }};
}

std::optional<std::string> attention_unsupported(const AttentionProblem& p) {
    if (p.precision == Precision::fp32) return "cuDNN computes attention in bf16, fp16 and fp8";
    if (p.precision == Precision::fp8 && p.decode) {
        return "cuDNN has no attention of bf16 queries to a cache in fp8";
    }
    if (p.ragged && !p.decode) {
        return "packed sequences are not given to cuDNN here; leave out ragged=1 to compare";
    }
    return std::nullopt;
}

}  // namespace etalon::cudnn
