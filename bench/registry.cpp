#include <fmt/format.h>

#include "bench/ops.h"
#include "bench/providers.h"
#include "harness/core/text.h"

namespace etalon {

Registry builtin_registry() {
    Registry registry;
    registry.add(make_copy());
    registry.add(make_gemm());
    registry.add(make_softmax());
    registry.add(make_rmsnorm());
    registry.add(make_layernorm());
    registry.add(make_attention_prefill());
    registry.add(make_attention_decode());

    registry.add(etalon_host_providers());
    registry.add(attention_host_providers());
    registry.add(onednn_providers());
    registry.add(libc_providers());
#ifdef ETALON_CUDA
    registry.add(etalon_cuda_providers());
    registry.add(attention_cuda_providers());
    registry.add(cublaslt_providers());
    registry.add(cudnn_providers());
    registry.add(cudart_providers());
#endif
    return registry;
}

void Registry::add(std::vector<std::unique_ptr<Provider>> providers) {
    for (std::unique_ptr<Provider>& provider : providers) add(std::move(provider));
}

const Op& Registry::op(std::string_view name) const {
    std::vector<std::string> known;
    for (const auto& op : ops_) {
        if (op->name() == name) return *op;
        known.emplace_back(op->name());
    }
    throw usage_error(unknown_name("op", name, known));
}

std::vector<const Provider*> Registry::providers(std::string_view op, DeviceKind kind) const {
    std::vector<const Provider*> found;
    for (const auto& provider : providers_) {
        if (provider->op() == op && provider->device() == kind) found.push_back(provider.get());
    }
    return found;
}

const Provider& Registry::provider(std::string_view op, std::string_view name,
                                   DeviceKind kind) const {
    std::vector<std::string> known;
    for (const Provider* provider : providers(op, kind)) {
        if (provider->name() == name) return *provider;
        known.emplace_back(provider->name());
    }
    throw usage_error(unknown_name(
        fmt::format("provider of {} on the {} device", op, etalon::name(kind)), name, known));
}

Case Registry::parse_case(std::string_view id, DeviceKind kind) const {
    const CaseIdParts parts = split_case_id(id);
    const Op& found = op(parts.op);
    Case key;
    key.problem.op = parts.op;
    key.problem.precision = parse_precision(parts.precision);
    check_precision(found, key.problem.precision);
    key.problem.axes = Axes(found.axes(), parse_axes(parts.axes), parts.op);
    const Provider& by = provider(parts.op, parts.provider, kind);
    check_variant(by, parts.variant);
    key.provider = parts.provider;
    key.variant = parts.variant;
    key.l2 = parse_l2(parts.l2);
    return key;
}

Case Registry::baseline(const Case& key, DeviceKind kind) const {
    Case base = key;
    base.provider = std::string(op(key.problem.op).baseline(kind));
    base.variant.clear();
    return base;
}

void check_precision(const Op& op, Precision precision) {
    std::vector<std::string> known;
    for (const Precision each : op.precisions()) {
        if (each == precision) return;
        known.emplace_back(name(each));
    }
    throw usage_error(
        unknown_name(fmt::format("precision of op '{}'", op.name()), name(precision), known));
}

void check_variant(const Provider& provider, std::string_view variant) {
    if (variant.empty()) return;
    const std::vector<std::string> known = provider.variants();
    for (const std::string& each : known) {
        if (each == variant) return;
    }
    if (known.empty()) {
        throw usage_error(fmt::format("provider '{}' of {} has no variants; leave out '+{}'",
                                      provider.name(), provider.op(), variant));
    }
    throw usage_error(unknown_name(
        fmt::format("variant of {} by '{}'", provider.op(), provider.name()), variant, known));
}

}  // namespace etalon
