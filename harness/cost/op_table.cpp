#include "harness/cost/op_table.h"

#include <algorithm>

#include "harness/core/attention_pairs.h"
#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {
namespace {

double real(std::int64_t value) {
    return static_cast<double>(value);
}

constexpr double activation_bytes = 2;  // bf16 between the operators

OpInfo rows_op(const char* name, double bytes_per_element) {
    return {.name = name,
            .along = {"", "rows"},
            .shape = {"cols"},
            .exact = {},
            .axes = {"rows", "cols"},
            .without = Without::pointwise,
            .bytes_per_element = bytes_per_element};
}

OpInfo heads_op(const char* name) {
    return {.name = name,
            .along = {"", "rows"},
            .shape = {"heads", "kv_heads", "head_dim"},
            .exact = {},
            .axes = {"rows", "heads", "kv_heads", "head_dim"},
            .without = Without::pointwise};
}

std::vector<OpInfo> make_table() {
    std::vector<OpInfo> table = {
        {.name = op::gemm,
         .along = {"", "m"},
         .shape = {"n", "k"},
         .exact = {},
         .axes = {"m", "n", "k"}},
        {.name = op::grouped_gemm,
         .along = {"", "m"},
         .shape = {"experts", "n", "k"},
         .exact = {},
         .axes = {"experts", "m", "n", "k"},
         .without = Without::grouped},
        {.name = op::batched_gemm,
         .along = {"", "m"},
         .shape = {"batch", "n", "k"},
         .exact = {},
         .axes = {"batch", "m", "n", "k"},
         .without = Without::pointwise},
        // `cached`: tokens that are in the cache before; `window`: 0 sees all.
        {.name = op::attention_prefill,
         .along = {"batch", "seq"},
         .shape = {"heads", "kv_heads", "cached"},
         .exact = {"head_dim", "value_dim", "causal", "window"},
         .axes = {"batch", "heads", "kv_heads", "head_dim", "seq", "causal", "cached", "window",
                  "value_dim"},
         .square_root = true},
        {.name = op::attention_decode,
         .along = {"batch", "context"},
         .shape = {"heads", "kv_heads"},
         .exact = {"head_dim"},
         .axes = {"batch", "heads", "kv_heads", "head_dim", "context"}},
        {.name = op::mla_decode,
         .along = {"batch", "context"},
         .shape = {"heads"},
         .exact = {"kv_rank", "rope_dim"},
         .axes = {"batch", "heads", "kv_rank", "rope_dim", "context"}},
        // Latency-bound in decode, so measured and never derived from a bandwidth.
        {.name = op::all_reduce,
         .along = {"", "elements"},
         .shape = {},
         .exact = {"gpus"},
         .axes = {"gpus", "elements"}},
    };
    // Bytes of bf16 rows: x read and y written are 4. add_rmsnorm reads residual and addend and
    // writes sum and normalised row. Dynamic scales read the input for its greatest value, read it
    // again and write a byte: about 5.
    const std::pair<const char*, double> row_kernels[] = {
        {op::rmsnorm, 4},     {op::add_rmsnorm, 8}, {op::add, 6},      {op::silu_mul, 6},
        {op::gelu_mul, 6},    {op::silu, 4},        {op::gelu, 4},     {op::mul, 6},
        {op::quantize, 5},    {op::embedding, 2},   {op::sampling, 2}, {op::topk, 2},
        {op::moe_permute, 4}, {op::moe_combine, 4}};
    for (const auto& [name, bytes] : row_kernels) table.push_back(rows_op(name, bytes));
    for (const char* name : {op::rope, op::qk_norm, op::kv_append}) table.push_back(heads_op(name));
    return table;
}

}  // namespace

const std::vector<OpInfo>& op_table() {
    static const std::vector<OpInfo> table = make_table();
    return table;
}

int op_index(std::string_view name) {
    const std::vector<OpInfo>& table = op_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const OpInfo& each) { return each.name == name; });
    return found == table.end() ? -1 : static_cast<int>(found - table.begin());
}

const OpInfo* find_op(std::string_view name) {
    const int index = op_index(name);
    return index < 0 ? nullptr : &op_table()[static_cast<std::size_t>(index)];
}

std::int64_t axis_of(const std::vector<Axis>& axes, std::string_view name) {
    for (const Axis& each : axes) {
        if (each.name == name) return each.value;
    }
    return default_of(name);
}

LeastWork least_work(const OpInfo& info, Precision precision, const std::vector<Axis>& axes) {
    const auto at = [&](const char* axis) { return real(axis_of(axes, axis)); };
    const double in = real(static_cast<std::int64_t>(bytes_of(input_dtype(precision))));
    const std::string_view name = info.name;
    if (info.bytes_per_element > 0) {
        const double elements = at("rows") * at("cols");
        return {4 * elements, info.bytes_per_element * elements};
    }
    if (name == op::gemm || name == op::grouped_gemm || name == op::batched_gemm) {
        const double m = at("m"), n = at("n"), k = at("k");
        // Grouped: m rows in all, one weight matrix an expert. Batched: everything `batch` times.
        const double matrices = name == op::grouped_gemm ? at("experts") : 1;
        const double times = name == op::batched_gemm ? at("batch") : 1;
        return {times * 2 * m * n * k,
                times * ((m * k + matrices * n * k) * in + m * n * activation_bytes)};
    }
    if (name == op::attention_decode) {
        const double q = at("batch") * at("heads") * at("head_dim"), s = at("context");
        return {4 * q * s, 2 * at("batch") * s * at("kv_heads") * at("head_dim") * in +
                               2 * activation_bytes * q};
    }
    if (name == op::attention_prefill) {
        const double b = at("batch"), s = at("seq"), d = at("head_dim");
        const double dv = at("value_dim") > 0 ? at("value_dim") : d;
        const AttentionSpan span{axis_of(axes, "seq"),
                                 axis_of(axes, "seq") + axis_of(axes, "cached"),
                                 axis_of(axes, "causal") == 1, axis_of(axes, "window")};
        return {2 * b * span.pairs() * at("heads") * (d + dv),
                b * (s * at("heads") * (d * in + dv * activation_bytes) +
                     real(span.read()) * at("kv_heads") * (d + dv) * in)};
    }
    if (name == op::mla_decode) {
        const double b = at("batch"), heads = at("heads"), rank = at("kv_rank"),
                     wide = rank + at("rope_dim"), s = at("context");
        return {2 * b * s * heads * (wide + rank),
                b * s * wide * in + activation_bytes * b * heads * (wide + rank)};
    }
    if (name == op::all_reduce) return {0, activation_bytes * at("elements")};
    if (name == op::kv_append) {
        const double elements = 2 * at("rows") * at("kv_heads") * at("head_dim");
        return {0, elements * in};
    }
    // rope, qk_norm: queries and keys read and written.
    const double elements = at("rows") * (at("heads") + at("kv_heads")) * at("head_dim");
    return {4 * elements, 2 * activation_bytes * elements};
}

std::int64_t default_of(std::string_view axis) {
    if (axis == "causal") return 1;
    return 0;  // cached, window, value_dim (the same as head_dim)
}

bool attention_includes_rope(std::string_view provider) {
    return same_family("trtllm", provider);
}

bool same_family(std::string_view wanted, std::string_view provider) {
    return provider == wanted || (provider.starts_with(wanted) && provider[wanted.size()] == '-');
}

NamedPrecision parse_named_precision(std::string_view text) {
    // The longest beginning that names a precision; what follows the '_' is the variant.
    for (std::size_t end = text.size(); end != std::string_view::npos && end > 0;
         end = text.rfind('_', end - 1)) {
        try {
            std::string variant(end < text.size() ? text.substr(end + 1) : std::string_view{});
            return {parse_precision(text.substr(0, end)), std::move(variant)};
        } catch (const Error&) {
            if (end == text.size() && text.find('_') == std::string_view::npos) throw;
        }
    }
    return {parse_precision(text), ""};  // throws, and names the precisions
}

}  // namespace etalon::cost
