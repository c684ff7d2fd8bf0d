#include "harness/cost/money.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {
namespace {

Estimate scaled(const Estimate& time, double factor) {
    return {time.value * factor, time.lo * factor, time.hi * factor};
}

// Ceiling, unless it is over a whole number by rounding only.
int whole_up(double value) {
    return static_cast<int>(std::ceil(std::min(value, 1e9) - 1e-9));
}

}  // namespace

std::string_view name(Convention convention) {
    switch (convention) {
        case Convention::additive:
            return "additive";
        case Convention::blended:
            return "blended";
        case Convention::output:
            return "output";
    }
    return "?";
}

std::string_view meaning(Convention convention) {
    switch (convention) {
        case Convention::additive:
            return "input tokens pay for prefill, output tokens for decode";
        case Convention::blended:
            return "one price for input and output tokens";
        case Convention::output:
            return "all of a request on its output tokens";
    }
    return "?";
}

Convention parse_convention(std::string_view text) {
    std::vector<std::string> known;
    for (const Convention c : {Convention::additive, Convention::blended, Convention::output}) {
        if (name(c) == text) return c;
        known.emplace_back(name(c));
    }
    throw usage_error(unknown_name("convention", text, known));
}

Cost cost_of(const Served& served, const Workload& workload, const Rate& rate,
             Convention convention) {
    if (!served.known()) return {};
    const double isl = static_cast<double>(workload.isl), osl = static_cast<double>(workload.osl);
    // $ for one ns of a replica that is busy for U of its time.
    const double usd_per_ns = rate.usd_per_gpu_hour * rate.gpus / rate.utilisation / (3600 * 1e9);
    const double per_request = osl / static_cast<double>(served.batch);
    // GPU time of one request: its share of decode steps, and the rest, which is prefill.
    const Estimate decode = scaled(served.decode_ns, per_request);
    const Estimate whole = scaled(served.tpot_ns, per_request);
    const Estimate prefill{std::max(0.0, whole.value - decode.value),
                           std::max(0.0, whole.lo - decode.lo),
                           std::max(0.0, whole.hi - decode.hi)};
    Cost out;
    out.request_usd = scaled(whole, usd_per_ns);
    switch (convention) {
        case Convention::additive:
            out.input_usd = scaled(prefill, usd_per_ns * 1e6 / isl);
            out.output_usd = scaled(decode, usd_per_ns * 1e6 / osl);
            break;
        case Convention::blended:
            out.input_usd = out.output_usd = scaled(out.request_usd, 1e6 / (isl + osl));
            break;
        case Convention::output:
            out.output_usd = scaled(out.request_usd, 1e6 / osl);
            break;
    }
    return out;
}

double parse_share(std::string_view text, std::string_view what) {
    std::string number = trim(text);
    const bool percent = number.ends_with('%');
    if (percent) number = trim(std::string_view(number).substr(0, number.size() - 1));
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (percent) value /= 100;
    if (error != std::errc{} || end != number.data() + number.size() ||
        !(value > 0 && value <= 1)) {
        throw usage_error(fmt::format("{} '{}' is not over 0 and up to 100%; write 60% or 0.6",
                                      what, one_line(std::string(text))));
    }
    return value;
}

void parse_utilisation_range(std::string_view text, WhatIf& out) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        throw usage_error(fmt::format("'{}' is no range; write --what-if utilisation=30%..60%",
                                      one_line(std::string(text))));
    }
    out.from = parse_share(text.substr(0, dots), "utilisation");
    out.to = parse_share(text.substr(dots + 2), "utilisation");
}

int gpus_needed(double rps, double utilisation, double capacity_rps, int replica) {
    return whole_up(rps / (utilisation * capacity_rps)) * replica;
}

int textbook_gpus(const WhatIf& what_if, int replica) {
    const double capacity = what_if.rps / (what_if.gpus * what_if.from) * replica;
    return gpus_needed(what_if.rps, what_if.to, capacity, replica);
}

double mean_wait_ns(double service_ns, std::int64_t places, double utilisation) {
    if (utilisation >= 1) return std::numeric_limits<double>::infinity();
    const auto c = static_cast<double>(places);
    return service_ns * std::pow(utilisation, std::sqrt(2 * (c + 1)) - 1) / (c * (1 - utilisation));
}

std::optional<Operating> best_operating(const std::vector<Served>& batches,
                                        const Workload& workload, const Limits& limits,
                                        double utilisation) {
    std::optional<Operating> best;
    for (const Served& served : batches) {
        if (!served.known() || served.limited()) continue;
        const double service = served.tpot_ns.value * static_cast<double>(workload.osl);
        Operating at{
            served.batch, served.requests_per_s, served.tpot_ns.value / 1e6,
            (served.ttft_ns.value + mean_wait_ns(service, served.batch, utilisation)) / 1e6};
        if (limits.tpot_ms && at.tpot_ms > *limits.tpot_ms) continue;
        if (limits.ttft_ms && !(at.ttft_ms <= *limits.ttft_ms)) continue;
        if (!best || at.capacity_rps > best->capacity_rps) best = at;
    }
    return best;
}

FleetAnswer answer(const WhatIf& what_if, const std::vector<Served>& batches,
                   const Workload& workload, const Limits& limits, int replica) {
    FleetAnswer out;
    out.asked = what_if;
    out.replica = replica;
    out.textbook_gpus = textbook_gpus(what_if, replica);
    out.before = best_operating(batches, workload, limits, what_if.from);
    out.after = best_operating(batches, workload, limits, what_if.to);
    if (out.before) {
        out.model_before_gpus =
            gpus_needed(what_if.rps, what_if.from, out.before->capacity_rps, replica);
    }
    if (out.after) {
        out.model_after_gpus =
            gpus_needed(what_if.rps, what_if.to, out.after->capacity_rps, replica);
    }
    out.open = best_operating(batches, workload, {}, what_if.from);
    const double today = what_if.rps / (what_if.gpus * what_if.from) * replica;
    const auto scaled_to = [&](const std::optional<Operating>& now) -> std::optional<int> {
        if (!now || !out.after) return std::nullopt;
        return gpus_needed(what_if.rps, what_if.to,
                           today * out.after->capacity_rps / now->capacity_rps, replica);
    };
    out.limited_gpus = scaled_to(out.before);
    out.limited_of_all_gpus = scaled_to(out.open);
    return out;
}

}  // namespace etalon::cost
