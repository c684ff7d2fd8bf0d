// What a change of utilisation does to a fleet, as prose: it is read aloud in a meeting.

#include <fmt/format.h>

#include "harness/cost/render.h"
#include "harness/report/text.h"

namespace etalon::cost {
namespace {

using nlohmann::ordered_json;
using report::number;
using report::significant;

constexpr double hours_of_month = 24 * 365.25 / 12;

std::string freed_text(int before, int after, double usd_per_hour) {
    const int freed = before - after;
    return fmt::format("{} GPUs, {} {} (${:.0f} per month)", after, std::abs(freed),
                       freed >= 0 ? "freed" : "more",
                       std::abs(freed) * usd_per_hour * hours_of_month);
}

std::string operating_text(const std::optional<Operating>& at) {
    if (!at) return "no batch meets the limits";
    return fmt::format(
        "batch {}, TPOT {} ms, TTFT {} ms with the wait, at most {} requests/s a "
        "replica",
        at->batch, significant(at->tpot_ms), significant(at->ttft_ms),
        significant(at->capacity_rps));
}

ordered_json json_of(const std::optional<Operating>& at) {
    if (!at) return nullptr;
    return {{"batch", at->batch},
            {"tpot_ms", number(at->tpot_ms)},
            {"ttft_ms", number(at->ttft_ms)},
            {"requests_per_s", number(at->capacity_rps)}};
}

ordered_json json_of(const std::optional<int>& gpus) {
    return gpus ? ordered_json(*gpus) : ordered_json(nullptr);
}

ordered_json json_of(const FleetReport& each) {
    const FleetAnswer& a = each.answer;
    return {{"model", each.model},
            {"gpu", each.gpu},
            {"precision", name(each.layout.precision)},
            {"tp", each.layout.tp},
            {"isl", each.workload.isl},
            {"osl", each.workload.osl},
            {"utilisation_from", number(a.asked.from)},
            {"utilisation_to", number(a.asked.to)},
            {"requests_per_s", number(a.asked.rps)},
            {"gpus", a.asked.gpus},
            {"gpus_per_replica", a.replica},
            {"textbook_gpus", a.textbook_gpus},
            {"textbook_freed", a.asked.gpus - a.textbook_gpus},
            {"tpot_limit_ms", number(each.limits.tpot_ms)},
            {"ttft_limit_ms", number(each.limits.ttft_ms)},
            {"before", json_of(a.before)},
            {"after", json_of(a.after)},
            {"open", json_of(a.open)},
            {"limited_gpus", json_of(a.limited_gpus)},
            {"limited_of_all_gpus", json_of(a.limited_of_all_gpus)},
            {"model_before_gpus", json_of(a.model_before_gpus)},
            {"model_after_gpus", json_of(a.model_after_gpus)},
            {"usd_per_gpu_hour", number(each.price.usd_per_hour)}};
}

}  // namespace

std::string render(const std::vector<FleetReport>& fleets, Format format) {
    if (format == Format::csv || format == Format::json) {
        ordered_json rows = ordered_json::array();
        for (const FleetReport& each : fleets) rows.push_back(json_of(each));
        if (format == Format::csv) return csv_of(rows);
        const ordered_json out = {{"format", "etalon.cost/1"}, {"what_if", rows}};
        return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    }
    std::string out;
    const char* bullet = format == Format::markdown ? "- " : "  ";
    for (const FleetReport& each : fleets) {
        const FleetAnswer& a = each.answer;
        const double usd = each.price.usd_per_hour;
        out += fmt::format(
            "{}{} on {}, {} weights, {} GPU(s) a replica, {} tokens in and {} out, at {}\n"
            "{}now: {} requests/s on {} GPUs at {:g} % of what they could serve\n"
            "{}at {:g} %, same GPUs otherwise: {}\n",
            out.empty() ? "" : "\n", each.model, each.gpu, name(each.layout.precision), a.replica,
            each.workload.isl, each.workload.osl, each.price.text(), bullet, a.asked.rps,
            a.asked.gpus, 100 * a.asked.from, bullet, 100 * a.asked.to,
            freed_text(a.asked.gpus, a.textbook_gpus, usd));
        const bool limits = each.limits.tpot_ms || each.limits.ttft_ms;
        out += fmt::format("{}{} {:g} %: {}\n{}{} {:g} %: {}\n", bullet,
                           limits ? "within the limits at" : "by the model at", 100 * a.asked.from,
                           operating_text(a.before), bullet,
                           limits ? "within the limits at" : "by the model at", 100 * a.asked.to,
                           operating_text(a.after));
        if (limits && a.limited_gpus) {
            out += fmt::format("{}your fleet at {:g} % of the load that meets the limits: {}\n",
                               bullet, 100 * a.asked.to,
                               freed_text(a.asked.gpus, *a.limited_gpus, usd));
        }
        if (limits && a.limited_of_all_gpus) {
            out += fmt::format(
                "{}if today's {:g} % is of all that they could serve (batch {}), meeting the "
                "limits "
                "takes {}\n",
                bullet, 100 * a.asked.from, a.open->batch,
                freed_text(a.asked.gpus, *a.limited_of_all_gpus, usd));
        }
        if (a.model_before_gpus && a.model_after_gpus) {
            out += fmt::format(
                "{}a fleet sized by the model alone: {} GPUs at {:g} %, {} at {:g} %\n", bullet,
                *a.model_before_gpus, 100 * a.asked.from, *a.model_after_gpus, 100 * a.asked.to);
        }
    }
    return out;
}

}  // namespace etalon::cost
