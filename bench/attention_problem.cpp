#include "bench/attention_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>

namespace etalon {
namespace {

namespace kernels = etalon::kernels;

// splitmix64 (Steele et al. 2014): the same numbers on every machine.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

// Between a quarter of the longest and all of it; the first is the longest.
std::int64_t ragged_length(std::int64_t longest, std::int64_t b) {
    const std::int64_t least = std::max<std::int64_t>(1, longest / 4);
    if (b == 0 || least == longest) return longest;
    const auto range = static_cast<std::uint64_t>(longest - least + 1);
    return least + static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(b)) % range);
}

std::vector<std::int32_t> running_sums(const AttentionProblem& problem,
                                       std::int64_t AttentionSpan::*count) {
    std::vector<std::int32_t> starts = {0};
    for (const AttentionSpan& each : problem.sequences) {
        starts.push_back(starts.back() + static_cast<std::int32_t>(each.*count));
    }
    return starts;
}

Buffer uploaded(Device& device, const std::vector<std::int32_t>& values) {
    Buffer buffer = device.allocate(values.size() * sizeof(std::int32_t));
    device.upload(buffer, std::as_bytes(std::span(values)));
    return buffer;
}

kernels::AttentionType type_of(DType dtype) {
    switch (dtype) {
        case DType::bf16:
            return kernels::AttentionType::bf16;
        case DType::f16:
            return kernels::AttentionType::fp16;
        case DType::e4m3:
            return kernels::AttentionType::fp8;
        default:
            return kernels::AttentionType::fp32;
    }
}

}  // namespace

std::int64_t AttentionProblem::query_tokens() const {
    std::int64_t tokens = 0;
    for (const AttentionSpan& each : sequences) tokens += each.queries;
    return tokens;
}

std::int64_t AttentionProblem::key_tokens() const {
    if (page > 0) return batch * pages_per_sequence() * page;
    if (decode) return batch * keys;
    std::int64_t tokens = 0;
    for (const AttentionSpan& each : sequences) tokens += each.keys;
    return tokens;
}

AttentionProblem attention_problem(const Problem& problem) {
    const Axes& axes = problem.axes;
    AttentionProblem out;
    out.decode = problem.op == "attention_decode";
    out.precision = problem.precision;
    out.batch = axes.at("batch");
    out.heads = axes.at("heads");
    out.kv_heads = axes.at("kv_heads");
    out.head_dim = axes.at("head_dim");
    out.ragged = axes.at("ragged") != 0;
    out.value_dim = out.head_dim;
    std::int64_t cached = 0;
    if (out.decode) {
        out.queries = axes.at("queries");
        out.keys = axes.at("context");
        out.causal = out.queries > 1;
        out.page = axes.at("page");
    } else {
        if (axes.at("value_dim") > 0) out.value_dim = axes.at("value_dim");
        cached = axes.at("cached");
        out.queries = axes.at("seq");
        out.keys = out.queries + cached;
        out.causal = axes.at("causal") != 0;
        out.window = axes.at("window");
    }
    for (std::int64_t b = 0; b < out.batch; ++b) {
        AttentionSpan each{out.queries, out.keys, out.causal, out.window};
        if (out.ragged && out.decode) {
            each.keys = std::max(out.queries, ragged_length(out.keys, b));
        } else if (out.ragged) {
            each.queries = ragged_length(out.queries, b);
            each.keys = each.queries + cached;
        }
        out.sequences.push_back(each);
    }
    return out;
}

std::optional<std::string> attention_misfit(const Problem& problem) {
    const Axes& axes = problem.axes;
    const std::int64_t heads = axes.at("heads"), kv_heads = axes.at("kv_heads");
    if (heads % kv_heads != 0) {
        return fmt::format("heads={} is no multiple of kv_heads={}; give a multiple", heads,
                           kv_heads);
    }
    if (problem.op == "attention_decode") {
        if (axes.at("queries") > axes.at("context")) {
            return fmt::format("queries={} are part of context={}; give a longer context",
                               axes.at("queries"), axes.at("context"));
        }
        return std::nullopt;
    }
    if (axes.at("window") > 0 && axes.at("causal") == 0) {
        return "window goes with causal=1; leave out one of them";
    }
    return std::nullopt;
}

std::vector<std::int32_t> page_table(const AttentionProblem& problem) {
    std::vector<std::int32_t> pages(
        static_cast<std::size_t>(problem.batch * problem.pages_per_sequence()));
    std::iota(pages.begin(), pages.end(), 0);
    for (std::size_t i = pages.size(); i > 1; --i) {
        std::swap(pages[i - 1], pages[mixed(i) % i]);
    }
    return pages;
}

std::vector<std::int32_t> query_starts(const AttentionProblem& problem) {
    return running_sums(problem, &AttentionSpan::queries);
}
std::vector<std::int32_t> key_starts(const AttentionProblem& problem) {
    return running_sums(problem, &AttentionSpan::keys);
}
std::vector<std::int32_t> key_lengths(const AttentionProblem& problem) {
    std::vector<std::int32_t> lengths;
    for (const AttentionSpan& each : problem.sequences) {
        lengths.push_back(static_cast<std::int32_t>(each.keys));
    }
    return lengths;
}

AttentionTables::AttentionTables(const AttentionProblem& problem, Device& device)
    : problem_(problem) {
    if (problem.page > 0) pages_ = uploaded(device, page_table(problem));
    if (problem.decode) {
        if (problem.ragged || problem.page > 0) {
            key_lengths_ = uploaded(device, etalon::key_lengths(problem));
        }
    } else if (problem.ragged) {
        query_starts_ = uploaded(device, query_starts(problem));
        key_starts_ = uploaded(device, key_starts(problem));
    }
}

kernels::AttentionArgs AttentionTables::arguments(const BufferSet& set) const {
    const AttentionProblem& p = problem_;
    kernels::AttentionArgs args;
    args.type = type_of(input_dtype(p.precision));
    args.query_type = type_of(p.query_dtype());
    args.q = set[0].data();
    args.k = set[1].data();
    args.v = set[2].data();
    args.out = set.back().data();
    args.batch = p.batch;
    args.heads = p.heads;
    args.kv_heads = p.kv_heads;
    args.head_dim = p.head_dim;
    args.value_dim = p.value_dim;
    args.queries = p.queries;
    args.keys = p.keys;
    args.q_at = {p.queries * p.heads * p.head_dim, p.heads * p.head_dim, p.head_dim};
    args.out_at = {p.queries * p.heads * p.value_dim, p.heads * p.value_dim, p.value_dim};
    if (p.decode) {  // a cache of [sequence or page][KV head][token][head_dim]
        const std::int64_t run = p.page > 0 ? p.page : p.keys;
        args.k_at = {p.kv_heads * run * p.head_dim, p.head_dim, run * p.head_dim};
        args.v_at = args.k_at;
    } else {  // as the projections leave them: [token][KV head][head_dim]
        args.k_at = {p.keys * p.kv_heads * p.head_dim, p.kv_heads * p.head_dim, p.head_dim};
        args.v_at = {p.keys * p.kv_heads * p.value_dim, p.kv_heads * p.value_dim, p.value_dim};
    }
    args.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.head_dim)));
    args.causal = p.causal;
    args.window = p.window;
    args.query_starts = query_starts_.as<const int>();
    args.key_starts = key_starts_.as<const int>();
    args.query_tokens = p.query_tokens();
    args.key_tokens = p.key_tokens();
    args.key_lengths = key_lengths_.as<const int>();
    args.pages = pages_.as<const int>();
    args.page = p.page;
    args.pages_per_sequence = p.pages_per_sequence();
    if (p.precision == Precision::fp8) {
        args.k_scale = set[3].as<const float>();
        args.v_scale = set[4].as<const float>();
        if (!p.decode) args.q_scale = set[5].as<const float>();
    }
    return args;
}

}  // namespace etalon
