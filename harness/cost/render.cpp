#include "harness/cost/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/report/text.h"

namespace etalon::cost {
namespace {

using nlohmann::ordered_json;
using report::number;
using report::significant;

std::string dump(const ordered_json& value) {
    return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// "0.4123 (0.3900 to 0.4350)"
std::string with_interval(const Estimate& value, double unit) {
    return fmt::format("{} ({} to {})", significant(value.value / unit),
                       significant(value.lo / unit), significant(value.hi / unit));
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

std::string layout_text(const Layout& layout) {
    std::string out(name(layout.precision));
    if (layout.precision == Precision::fp8 || layout.precision == Precision::int8) {
        out += layout.static_scales ? " static" : " dynamic";
    }
    return out;
}

std::string limits_text(const Limits& limits) {
    std::vector<std::string> parts;
    if (limits.tpot_ms) parts.push_back(fmt::format("TPOT at most {:g} ms", *limits.tpot_ms));
    if (limits.ttft_ms) parts.push_back(fmt::format("TTFT at most {:g} ms", *limits.ttft_ms));
    return join(parts, ", ");
}

// Lines of prose above a table: what the figures mean and where they come from.
std::vector<std::string> notes_of(const CostTable& table) {
    std::vector<std::string> notes;
    for (const auto& [card, price] : table.prices) {
        notes.push_back(fmt::format("{} at {}", card, price.text()));
    }
    notes.push_back(fmt::format(
        "convention {}: {}; utilisation {:g} % of the largest load that meets the limits",
        name(table.pricing.convention), meaning(table.pricing.convention),
        100 * table.pricing.utilisation));
    std::string serving =
        "continuous batching; TPOT = decode step at ISL + OSL/2 + batch · "
        "prefill / OSL";
    if (table.grid.chunk > 0) serving += fmt::format(", prefill in chunks of {}", table.grid.chunk);
    if (table.grid.cache_hit > 0) {
        serving += fmt::format(", {:g} % of the input cached", 100 * table.grid.cache_hit);
    }
    notes.push_back(serving);
    if (table.grid.impls.size() > 1) {
        notes.push_back(
            fmt::format("$ against first: a request's cost against that with {} kernels",
                        name(table.grid.impls.front())));
    }
    const std::string limits = limits_text(table.limits);
    if (!limits.empty()) notes.push_back("limits: " + limits);
    for (const std::string& card : table.cards) notes.push_back("ceilings of " + card);
    return notes;
}

std::string remarks_of(const TableRow& row) {
    std::vector<std::string> parts;
    const Served& served = row.served;
    if (served.capacity == 0) {
        parts.emplace_back("does not fit");
    } else if (served.limited()) {
        parts.push_back(fmt::format("cache holds {}", served.capacity));
    }
    if (!served.missing.empty()) {
        parts.push_back(fmt::format("{} operators missing", served.missing.size()));
    }
    if (served.known() && !row.meets_limits) parts.emplace_back("over the limit");
    if (row.cheapest) parts.emplace_back("cheapest");
    if (row.pareto) parts.emplace_back("frontier");
    if (served.unvalidated) parts.emplace_back("low confidence (experts)");
    return join(parts, ", ");
}

TextTable text_rows(const CostTable& table) {
    TextTable out;
    const bool groups = std::any_of(table.rows.begin(), table.rows.end(),
                                    [](const TableRow& row) { return !row.group.empty(); });
    const auto column = [&](const char* title, bool left) {
        out.header.emplace_back(title);
        out.left.push_back(left);
    };
    column("model", true);
    column("GPU", true);
    if (groups) column("group", true);
    column("kernels", true);
    column("weights", true);
    column("KV", true);
    for (const char* title :
         {"TP GPUs", "batch", "ISL tokens", "OSL tokens", "TPOT ms", "TTFT ms", "tokens/s/GPU",
          "$/M input", "$/M output (95 %)", "$/1000 requests", "measured"}) {
        column(title, false);
    }
    const bool several = table.grid.impls.size() > 1;
    if (several) column("$ against first", false);
    column("remarks", true);
    for (const TableRow& row : table.rows) {
        std::vector<std::string> cells = {row.model, row.gpu};
        if (groups) cells.push_back(row.group);
        const Served& served = row.served;
        const bool known = served.known();
        const auto figure = [&](double value) { return known ? significant(value) : "-"; };
        std::vector<std::string> rest = {
            row.kernels,
            layout_text(row.layout),
            std::string(name(row.layout.kv_precision)),
            fmt::format("{}", row.layout.tp),
            fmt::format("{}", served.batch > 0 ? served.batch : served.asked),
            fmt::format("{}", row.workload.isl),
            fmt::format("{}", row.workload.osl),
            known ? with_interval(served.tpot_ns, 1e6) : "-",
            figure(served.ttft_ns.value / 1e6),
            figure(row.tokens_per_s_gpu),
            figure(row.cost.input_usd.value),
            known ? with_interval(row.cost.output_usd, 1) : "-",
            figure(1000 * row.cost.request_usd.value),
            known ? percent(served.measured) : "-"};
        if (several) {
            rest.push_back(row.against_first ? report::percent_change(*row.against_first) : "-");
        }
        rest.push_back(remarks_of(row));
        cells.insert(cells.end(), rest.begin(), rest.end());
        out.rows.push_back(std::move(cells));
    }
    return out;
}

void add_interval(ordered_json& to, const std::string& key, const Estimate& value, double unit,
                  bool known) {
    to[key] = known ? number(value.value / unit) : nlohmann::json(nullptr);
    to[key + "_lo"] = known ? number(value.lo / unit) : nlohmann::json(nullptr);
    to[key + "_hi"] = known ? number(value.hi / unit) : nlohmann::json(nullptr);
}

ordered_json json_row(const TableRow& row) {
    const Served& served = row.served;
    const bool known = served.known();
    ordered_json out = {{"model", row.model},
                        {"gpu", row.gpu},
                        {"group", row.group},
                        {"kernels", row.kernels},
                        {"precision", name(row.layout.precision)},
                        {"kv_precision", name(row.layout.kv_precision)},
                        {"static_scales", row.layout.static_scales},
                        {"tp", row.layout.tp},
                        {"ep", row.layout.ep},
                        {"batch", served.batch},
                        {"batch_asked", served.asked},
                        {"kv_capacity_requests", served.capacity},
                        {"isl", row.workload.isl},
                        {"osl", row.workload.osl}};
    add_interval(out, "tpot_ms", served.tpot_ns, 1e6, known);
    add_interval(out, "ttft_ms", served.ttft_ns, 1e6, known);
    add_interval(out, "decode_step_ms", served.decode_ns, 1e6, known);
    add_interval(out, "prefill_ms", served.prefill_ns, 1e6, known);
    out["tokens_per_s_per_gpu"] = known ? number(row.tokens_per_s_gpu) : nlohmann::json(nullptr);
    out["requests_per_s"] = known ? number(served.requests_per_s) : nlohmann::json(nullptr);
    add_interval(out, "usd_per_million_input", row.cost.input_usd, 1, known);
    add_interval(out, "usd_per_million_output", row.cost.output_usd, 1, known);
    add_interval(out, "usd_per_request", row.cost.request_usd, 1, known);
    out["usd_per_gpu_hour"] = number(row.rate.usd_per_gpu_hour);
    out["utilisation"] = number(row.rate.utilisation);
    out["measured_share"] = number(served.measured);
    out["interpolated_share"] = number(served.interpolated);
    out["modelled_share"] = number(served.modelled);
    out["cost_against_first"] = number(row.against_first);
    out["meets_limits"] = row.meets_limits;
    out["pareto"] = row.pareto;
    out["cheapest"] = row.cheapest;
    out["low_confidence"] = served.unvalidated;
    out["missing"] = served.missing.size();
    return out;
}

std::string missing_text(const std::vector<std::string>& missing, const std::string& command) {
    if (missing.empty()) return "";
    constexpr std::size_t most = 8;
    std::string out = fmt::format(
        "\n{} operators are missing, so the rows they are part of have "
        "no cost:\n",
        missing.size());
    for (std::size_t i = 0; i < std::min(most, missing.size()); ++i) {
        out += "  " + missing[i] + "\n";
    }
    if (missing.size() > most) out += fmt::format("  and {} more\n", missing.size() - most);
    return out + "measure what this build has of them with:\n  " + command + "\n";
}

std::string layout_sentence(const Explained& each) {
    return fmt::format("{} on {}{}{}, weights {}, KV cache {}, TP {} GPUs, kernels {}", each.model,
                       each.gpu, each.group.empty() ? "" : ", ", each.group,
                       layout_text(each.layout), name(each.layout.kv_precision), each.layout.tp,
                       each.kernels);
}

}  // namespace

Format parse_format(std::string_view text) {
    if (text == "text") return Format::text;
    if (text == "md") return Format::markdown;
    if (text == "csv") return Format::csv;
    if (text == "json") return Format::json;
    const std::vector<std::string> known = {"text", "md", "csv", "json"};
    throw usage_error(unknown_name("format", text, known));
}

std::string render(const CostTable& table, Format format, const std::string& command) {
    if (format == Format::csv || format == Format::json) {
        ordered_json rows = ordered_json::array();
        for (const TableRow& row : table.rows) rows.push_back(json_row(row));
        if (format == Format::csv) return csv_of(rows);
        ordered_json prices = ordered_json::array();
        for (const auto& [card, price] : table.prices) {
            prices.push_back({{"gpu", card},
                              {"usd_per_gpu_hour", number(price.usd_per_hour)},
                              {"lo", number(price.lo_usd)},
                              {"hi", number(price.hi_usd)},
                              {"tier", price.tier},
                              {"date", price.date},
                              {"age_days", price.age_days},
                              {"stale", price.stale()},
                              {"source", price.source}});
        }
        ordered_json out = {{"format", "etalon.cost/1"},
                            {"convention", name(table.pricing.convention)},
                            {"convention_meaning", meaning(table.pricing.convention)},
                            {"prices", prices},
                            {"cards", table.cards},
                            {"limits",
                             {{"tpot_ms", number(table.limits.tpot_ms)},
                              {"ttft_ms", number(table.limits.ttft_ms)}}},
                            {"rows", rows},
                            {"missing", table.missing}};
        if (!table.missing.empty()) out["measure_with"] = command;
        return dump(out);
    }
    std::string out;
    const bool markdown = format == Format::markdown;
    for (const std::string& note : notes_of(table)) out += (markdown ? "- " : "") + note + "\n";
    const TextTable rows = text_rows(table);
    return out + "\n" + (markdown ? rows.markdown() : rows.text()) +
           missing_text(table.missing, command);
}

std::string render(const std::vector<Explained>& steps, Format format, const std::string& command) {
    if (format == Format::csv || format == Format::json) {
        ordered_json all = ordered_json::array(), flat = ordered_json::array();
        for (const Explained& each : steps) {
            ordered_json rows = ordered_json::array();
            for (const StepRow& row : each.step.rows) {
                const bool known = row.found.time_ns.value > 0;
                ordered_json out = {{"model", each.model},
                                    {"step", each.step.step.text()},
                                    {"kernels", each.kernels},
                                    {"role", row.op.role},
                                    {"problem", row.op.problem_id()},
                                    {"count", row.op.count},
                                    {"source", name(row.found.origin)},
                                    {"provider", row.found.provider}};
                add_interval(out, "time_us", row.found.time_ns, 1e3, known);
                out["total_us"] = number(row.time_ns / 1e3);
                out["share"] = number(row.share);
                out["bound"] = row.bound;
                out["flop"] = number(row.op.flop);
                out["bytes_min"] = number(row.op.bytes);
                out["octaves"] = number(row.found.octaves);
                out["from"] = row.found.from;
                flat.push_back(out);
                rows.push_back(std::move(out));
            }
            ordered_json step = {{"model", each.model},
                                 {"gpu", each.gpu},
                                 {"group", each.group},
                                 {"step", each.step.step.text()}};
            add_interval(step, "time_us", each.step.time_ns, 1e3, each.step.missing.empty());
            step["measured_share"] = number(each.step.measured);
            step["missing"] = each.step.missing;
            step["operators"] = std::move(rows);
            all.push_back(std::move(step));
        }
        if (format == Format::csv) return csv_of(flat);
        return dump({{"format", "etalon.cost/1"}, {"steps", all}});
    }
    const bool markdown = format == Format::markdown;
    std::string out;
    std::vector<std::string> missing;
    for (const Explained& each : steps) {
        out += fmt::format("{}{}: {}\n", out.empty() ? "" : "\n", each.step.step.text(),
                           layout_sentence(each));
        if (markdown) out += "\n";
        TextTable table;
        table.header = {"role",  "problem", "times",  "each µs (95 %)", "total µs",
                        "share", "bound",   "source", "provider",       "from"};
        table.left = {true, true, false, false, false, false, true, true, true, true};
        for (const StepRow& row : each.step.rows) {
            const bool known = row.found.time_ns.value > 0;
            table.rows.push_back(
                {row.op.role, row.op.problem_id(), fmt::format("{:.0f}", row.op.count),
                 known ? with_interval(row.found.time_ns, 1e3) : "-",
                 known ? significant(row.time_ns / 1e3) : "-",
                 fmt::format("{:.1f} %", 100 * row.share), row.bound,
                 std::string(name(row.found.origin)),
                 row.found.provider.empty() ? "-" : row.found.provider, row.found.from});
        }
        out += markdown ? table.markdown() : table.text();
        if (markdown) out += "\n";
        out += each.step.missing.empty()
                   ? fmt::format("step {} ms; ", with_interval(each.step.time_ns, 1e6))
                   : fmt::format("known part {} ms; ", significant(each.step.time_ns.value / 1e6));
        out += fmt::format("measured {}, interpolated {}, modelled {} of the time\n",
                           percent(each.step.measured), percent(each.step.interpolated),
                           percent(each.step.modelled));
        missing.insert(missing.end(), each.step.missing.begin(), each.step.missing.end());
    }
    return out + missing_text(missing, command);
}

}  // namespace etalon::cost
