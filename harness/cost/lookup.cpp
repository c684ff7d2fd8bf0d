#include "harness/cost/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/borrow.h"

namespace etalon::cost {
namespace {

// Utilisation of a neighbouring shape: what it may be off, for each octave of distance.
constexpr double doubt_per_octave = 0.05;
// Prefill behind cached tokens as the difference of two whole prefills.
constexpr double doubt_of_difference = 0.10;
// Least bytes at copy bandwidth: kernels differ from it by up to this much.
constexpr double doubt_of_model = 0.5;
// Experts at the utilisation of an ordinary product; published compositions are 24 to 44 % low.
constexpr double doubt_of_grouped = 0.4;

constexpr std::string_view vendors[] = {"cublaslt", "cudnn",  "cudart", "nccl",
                                        "cub",      "onednn", "libc",   "cublas"};

bool is_vendor(std::string_view provider) {
    return std::any_of(std::begin(vendors), std::end(vendors),
                       [&](std::string_view each) { return same_family(each, provider); });
}

// Adds `relative` to an interval's halves, in quadrature.
Estimate widened(const Estimate& time, double relative) {
    const auto half = [&](double width) { return std::hypot(width, relative * time.value); };
    return {time.value, std::max(0.0, time.value - half(time.value - time.lo)),
            time.value + half(time.hi - time.value)};
}

Estimate scaled(const Estimate& time, double factor) {
    return {time.value * factor, time.lo * factor, time.hi * factor};
}

}  // namespace

std::string_view name(Origin origin) {
    switch (origin) {
        case Origin::measured:
            return "measured";
        case Origin::interpolated:
            return "interpolated";
        case Origin::modelled:
            return "modelled";
        case Origin::included:
            return "included";
        case Origin::missing:
            return "missing";
    }
    return "?";
}

std::string_view name(Impl impl) {
    switch (impl) {
        case Impl::framework:
            return "framework";
        case Impl::vendor:
            return "vendor";
        case Impl::etalon:
            return "etalon";
        case Impl::best:
            return "best";
    }
    return "?";
}

Impl parse_impl(std::string_view text) {
    std::vector<std::string> known;
    for (const Impl impl : {Impl::framework, Impl::vendor, Impl::etalon, Impl::best}) {
        if (name(impl) == text) return impl;
        known.emplace_back(name(impl));
    }
    throw usage_error(unknown_name("implementation", text, known));
}

struct Lookup::Request {
    const OpInfo* info = nullptr;
    int index = -1;
    std::vector<Axis> axes;
    Precision precision = Precision::bf16;
    const Layout* layout = nullptr;
    const Choice* choice = nullptr;
    bool decoding = false;
    SeriesKey key;
    Position at{};
    double roof_ns = 0;

    // The same with other axes or another op.
    [[nodiscard]] Request with(const char* op, Precision p, std::vector<Axis> others,
                               const Card& card) const {
        Request out = *this;
        out.info = find_op(op);
        out.index = op_index(op);
        out.precision = p;
        out.axes = std::move(others);
        out.key = series_key(*out.info, out.axes);
        out.at = position_of(*out.info, out.axes);
        out.roof_ns = card.roof_ns(least_work(*out.info, p, out.axes), p);
        return out;
    }

    // `strict`: a framework's first heuristic, and nothing else.
    [[nodiscard]] bool takes(const Source& source, Precision wanted, bool strict) const {
        if (source.precision != wanted) return false;
        // Weights and caches come from memory; rows were written by the kernel before.
        if (source.hot && info->without != Without::pointwise) return false;
        // Launched by the CPU or inside a graph: each where it happens.
        if (decoding && source.provider.ends_with("-eager")) return false;
        if (!decoding && source.provider.ends_with("-graph")) return false;
        if (std::string_view(info->name).starts_with("attention")) {
            const bool fp8_cache = source.variant == "kv_fp8";
            if (wanted == Precision::bf16 &&
                fp8_cache != (layout->kv_precision == Precision::fp8)) {
                return false;
            }
        }
        if (std::string_view(info->name) == op::gemm && layout->static_scales &&
            source.variant == "dynamic") {
            return false;
        }
        if (!layout->static_scales && source.variant == "static") return false;
        if (!choice->providers.empty()) {
            return std::any_of(
                choice->providers.begin(), choice->providers.end(),
                [&](const std::string& p) { return same_family(p, source.provider); });
        }
        switch (choice->impl) {
            case Impl::best:
                return true;
            case Impl::etalon:  // communication is nobody's but the vendor's
                return source.provider == "etalon" ||
                       (std::string_view(info->name) == op::all_reduce &&
                        is_vendor(source.provider));
            case Impl::vendor:
                return is_vendor(source.provider);
            case Impl::framework:
                return is_vendor(source.provider) && source.variant == (strict ? "first" : "");
        }
        return false;
    }
};

Lookup::Lookup(const KernelSet& kernels, const Card& card)
    : card_(card), sources_(op_table().size()) {
    using Name = std::tuple<Precision, std::string, std::string, bool>;
    std::vector<std::map<Name, Source>> named(op_table().size());
    // What dynamic scales cost beside a foreign gemm: kernels named quantize_* at (m, k).
    std::map<std::string, std::map<std::pair<std::int64_t, std::int64_t>, double>> parts;
    for (const Kernel& kernel : kernels.kernels) {
        if (kernel.op.starts_with("quantize_")) {
            const auto m = axis_of(kernel.axes, "m"), k = axis_of(kernel.axes, "k");
            parts[kernel.provider][{m, k}] += kernel.time_ns.value;
        }
        const int index = op_index(kernel.op);
        if (index < 0) continue;
        const OpInfo& info = op_table()[static_cast<std::size_t>(index)];
        // An axis that no model asks for, as the padding of a matrix.
        const bool strange =
            std::any_of(kernel.axes.begin(), kernel.axes.end(), [&](const Axis& axis) {
                return axis.value != 0 &&
                       std::none_of(info.axes.begin(), info.axes.end(),
                                    [&](const char* known) { return axis.name == known; });
            });
        if (strange) continue;
        const bool hot = kernel.l2 == L2Mode::hot;
        auto [found, fresh] = named[static_cast<std::size_t>(index)].try_emplace(
            Name{kernel.precision, kernel.provider, kernel.variant, hot});
        Source& source = found->second;
        if (fresh) source = {kernel.precision, kernel.provider, kernel.variant, hot, {}};
        source.series[series_key(info, kernel.axes)].add(position_of(info, kernel.axes),
                                                         kernel.time_ns);
    }

    // Static scales from rows that include the quantise of dynamic ones: less those kernels, never
    // under the roofline.
    const OpInfo& gemm = *find_op(op::gemm);
    auto& gemms = named[static_cast<std::size_t>(op_index(op::gemm))];
    std::vector<Source> made;
    for (const auto& [key, source] : gemms) {
        if (source.variant != "dynamic" || parts.empty()) continue;
        const auto own = parts.find(source.provider);
        const auto& cost = own == parts.end() ? parts.begin()->second : own->second;
        Source less{source.precision, source.provider, "static", source.hot, {}};
        for (const auto& [shape, series] : source.series) {
            for (const auto& [unused, line] : series.lines()) {
                for (const auto& [m, time] : line) {
                    const auto quantize = cost.find({m, shape.shape[1]});
                    if (quantize == cost.end()) continue;
                    const Position at{0, m};
                    const double roof =
                        card.roof_ns(least_work(gemm, source.precision, axes_at(gemm, shape, at)),
                                     source.precision);
                    const double left = std::max(time.value - quantize->second, roof);
                    less.series[shape].add(at, scaled(time, left / time.value));
                }
            }
        }
        if (!less.series.empty()) made.push_back(std::move(less));
    }
    for (std::size_t i = 0; i < named.size(); ++i) {
        for (auto& [key, source] : named[i]) sources_[i].push_back(std::move(source));
    }
    auto& all = sources_[static_cast<std::size_t>(op_index(op::gemm))];
    for (Source& source : made) all.push_back(std::move(source));
}

namespace {

// One that is measured beats one that is interpolated, however fast the latter looks.
int rank(const Found& found) {
    if (found.origin == Origin::measured) return 0;
    if (found.origin == Origin::interpolated) return found.octaves == 0 ? 1 : 2;
    return 3;
}

bool better(const Found& a, const Found& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.time_ns.value < b.time_ns.value;
}

}  // namespace

Found Lookup::in_source(const Source& source, const Request& request) const {
    const OpInfo& info = *request.info;
    const std::string provider = provider_text(source.provider, source.variant);
    const auto same = source.series.find(request.key);
    if (same != source.series.end()) {
        const Reading reading = same->second.read(request.at, info.square_root);
        if (reading.octaves == 0) {
            Found out{reading.exact ? Origin::measured : Origin::interpolated,
                      widened(reading.time_ns, reading.uncertainty), provider, "", 0};
            out.from = reading.exact ? fmt::format("{}/{}/{}/{}", info.name, name(source.precision),
                                                   axes_text(info, request.axes), provider)
                                     : fmt::format("between measured neighbours of {}",
                                                   axes_text(info, request.axes));
            return out;
        }
    }
    // No roofline, nothing to borrow: communication.
    if (info.shape.empty()) return {};

    const std::optional<Borrowed> borrowed =
        borrow(source, info, request.key, request.at, request.roof_ns, card_);
    if (!borrowed) return {};
    return {Origin::interpolated,
            widened(borrowed->time_ns,
                    std::hypot(borrowed->spread, doubt_per_octave * borrowed->octaves)),
            provider, borrowed->from, borrowed->octaves};
}

Found Lookup::in_sources(const Request& request, Precision precision) const {
    Found best;
    for (const bool strict : {true, false}) {
        for (const Source& source : sources_[static_cast<std::size_t>(request.index)]) {
            if (!request.takes(source, precision, strict)) continue;
            Found found = in_source(source, request);
            if (found.origin != Origin::missing && better(found, best)) best = std::move(found);
        }
        if (request.choice->impl != Impl::framework || rank(best) <= 1) break;
    }
    return best;
}

// Attention of a prompt's later part: the whole, less the part before. Exact in FLOP.
Found Lookup::chunk(const Request& request) const {
    const std::int64_t cached = axis_of(request.axes, "cached"), seq = axis_of(request.axes, "seq");
    const auto whole_of = [&](std::int64_t length) {
        std::vector<Axis> axes;
        for (const Axis& axis : request.axes) {
            if (axis.name == "cached") continue;
            axes.push_back(axis.name == "seq" ? Axis{"seq", length} : axis);
        }
        return request.with(op::attention_prefill, request.precision, std::move(axes), card_);
    };
    if (cached == 0 || axis_of(request.axes, "window") != 0) return {};
    Found whole = search(whole_of(cached + seq));
    const Found before = search(whole_of(cached));
    if (whole.origin == Origin::missing || before.origin == Origin::missing) return {};
    const double left = std::max(whole.time_ns.value - before.time_ns.value, request.roof_ns);
    whole.origin = Origin::interpolated;
    whole.time_ns = widened(scaled(whole.time_ns, left / whole.time_ns.value), doubt_of_difference);
    whole.from = fmt::format("prefill of {} tokens less prefill of {}", cached + seq, cached);
    // Never on a par with a time between two measurements.
    whole.octaves = std::max({whole.octaves, before.octaves, 0.01});
    return whole;
}

Found Lookup::without(const Request& request) const {
    if (request.info->without == Without::pointwise) {
        const double time = card_.small_kernel_ns + request.roof_ns;
        return {Origin::modelled,
                {time, time * (1 - doubt_of_model), time * (1 + doubt_of_model)},
                "-",
                fmt::format("least bytes at {:.0f} GB/s and {:.2f} µs for a small kernel",
                            card_.copy_gb_s, card_.small_kernel_ns / 1e3),
                0};
    }
    if (request.info->without == Without::grouped) {
        // E experts of m/E rows each stream the weights and do the FLOP of one product of m/E rows
        // and E times the columns, in one launch as well.
        const std::int64_t experts = axis_of(request.axes, "experts"),
                           m = axis_of(request.axes, "m");
        const Request one =
            request.with(op::gemm, request.precision,
                         {{"m", std::max<std::int64_t>(1, (m + experts - 1) / experts)},
                          {"n", axis_of(request.axes, "n") * experts},
                          {"k", axis_of(request.axes, "k")}},
                         card_);
        Found found = search(one);
        if (found.origin != Origin::missing) {
            const double utilisation = one.roof_ns / found.time_ns.value;
            found.time_ns =
                widened(scaled(found.time_ns, request.roof_ns / utilisation / found.time_ns.value),
                        doubt_of_grouped);
            found.origin = Origin::modelled;
            found.from = fmt::format("utilisation of gemm {}", axes_text(*one.info, one.axes));
            return found;
        }
    }
    Found none;
    none.from = request.info->shape.empty()
                    ? "not measured; communication is never derived from a bandwidth"
                    : "nothing measured within two octaves";
    return none;
}

Found Lookup::search(const Request& request) const {
    // 16-bit types take the same time; a cache in fp8 may be read by kernels that compute in bf16.
    std::vector<Precision> precisions = {request.precision};
    const bool attention = std::string_view(request.info->name).starts_with("attention");
    if (attention && request.precision == Precision::fp8) precisions.push_back(Precision::bf16);
    if (std::string_view(request.info->name) == op::all_reduce) {
        precisions.push_back(Precision::fp16);
    }
    Found best;
    for (const Precision precision : precisions) {
        Found found = in_sources(request, precision);
        if (better(found, best)) best = std::move(found);
        if (rank(best) <= 1) return best;
    }
    if (best.origin == Origin::missing &&
        std::string_view(request.info->name) == op::attention_prefill) {
        best = chunk(request);
    }
    return best.origin == Origin::missing ? without(request) : best;
}

const Found& Lookup::find(const Operator& each, const Layout& layout, const Choice& choice,
                          bool decoding) {
    std::string key = fmt::format("{}|{}{}{}|{}", each.problem_id(), static_cast<int>(choice.impl),
                                  layout.static_scales ? 's' : 'd', decoding ? 'd' : 'p',
                                  name(layout.kv_precision));
    for (const std::string& provider : choice.providers) key += "|" + provider;
    const auto [at, fresh] = memo_.try_emplace(std::move(key));
    if (fresh) {
        Request request;
        request.layout = &layout;
        request.choice = &choice;
        request.decoding = decoding;
        at->second = search(request.with(each.op.c_str(), each.precision, each.axes, card_));
    }
    return at->second;
}

}  // namespace etalon::cost
