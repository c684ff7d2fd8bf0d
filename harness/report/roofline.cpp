#include "harness/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/text.h"

namespace etalon::report {
namespace {

// Half of the time follows the clock: the line between the two worlds.
constexpr double half_elastic = 0.5;
// Below this share of a ceiling, the ceiling is not what bounds a case.
constexpr double near_share = 0.4;

struct Cell {
    const ReportTable* table;
    const ReportRow* row;
    const ReportCell* cell;
    [[nodiscard]] double gbs() const { return cell->bytes_min / cell->time_ns->value; }
    [[nodiscard]] double tflops() const { return cell->flop / cell->time_ns->value / 1e3; }
};

std::vector<Cell> measured(const Report& report) {
    std::vector<Cell> all;
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& cell : row.cells) {
                if (cell.status == Status::ok && cell.time_ns) all.push_back({&table, &row, &cell});
            }
        }
    }
    return all;
}

void raise(Ceiling& ceiling, double value, const std::string& case_id) {
    if (value > ceiling.value) ceiling = {value, case_id};
}

void find_ceilings(const std::vector<Cell>& cells, Roofline& out) {
    const auto is_copy = [](const Cell& each) { return each.table->op == "copy"; };
    const bool copies = std::any_of(cells.begin(), cells.end(), [&](const Cell& each) {
        return is_copy(each) && each.row->l2 == L2Mode::cold;
    });
    for (const Cell& each : cells) {
        if (each.row->l2 == L2Mode::cold && (!copies || is_copy(each))) {
            raise(out.memory_gbs, each.gbs(), each.cell->case_id);
        }
        if (each.cell->flop > 0) {
            raise(out.tflops[each.table->precision], each.tflops(), each.cell->case_id);
        }
    }
}

Bound from_elasticity(const RooflinePoint& point) {
    if (point.elasticity.lo > half_elastic) {
        return point.compute_share >= near_share ? Bound::compute : Bound::latency;
    }
    if (point.elasticity.hi < half_elastic) {
        return point.memory_share >= near_share ? Bound::memory : Bound::latency;
    }
    return Bound::mixed;
}

}  // namespace

std::string_view name(Bound bound) {
    switch (bound) {
        case Bound::memory:
            return "memory";
        case Bound::compute:
            return "compute";
        case Bound::latency:
            return "latency";
        case Bound::mixed:
            break;
    }
    return "mixed";
}

Roofline roofline(const Report& report) {
    Roofline out;
    out.run = report.run;
    out.gpu = report.environment.gpu;
    const std::vector<Cell> cells = measured(report);
    find_ceilings(cells, out);
    for (const Cell& each : cells) {
        if (!each.cell->elasticity) {
            ++out.without_elasticity;
            continue;
        }
        RooflinePoint point;
        point.case_id = each.cell->case_id;
        point.op = each.table->op;
        point.precision = each.table->precision;
        point.time_ns = each.cell->time_ns->value;
        point.elasticity = *each.cell->elasticity;
        if (each.cell->bytes_min > 0) point.intensity = each.cell->flop / each.cell->bytes_min;
        const double tflops = each.cell->flop > 0 ? out.tflops.at(point.precision).value : 0;
        if (tflops > 0) point.compute_share = each.tflops() / tflops;
        if (out.memory_gbs.value > 0) point.memory_share = each.gbs() / out.memory_gbs.value;
        // Beyond the ridge the compute ceiling is the lower one.
        const bool compute = point.intensity * out.memory_gbs.value > tflops * 1e3 && tflops > 0;
        point.by_intensity = compute ? Bound::compute : Bound::memory;
        point.by_elasticity = from_elasticity(point);
        out.points.push_back(std::move(point));
    }
    return out;
}

std::string roofline_text(const Roofline& roofline, bool only_disagreements) {
    std::string out = fmt::format("{}, run {} of {}\n", roofline.gpu, roofline.run.run_id,
                                  minute(roofline.run.started_at));
    if (roofline.memory_gbs.value > 0) {
        out += fmt::format("memory ceiling {} GB/s ({})\n", significant(roofline.memory_gbs.value),
                           roofline.memory_gbs.case_id);
    }
    for (const auto& [precision, ceiling] : roofline.tflops) {
        out += fmt::format("{} ceiling {} TFLOP/s ({})\n", precision, significant(ceiling.value),
                           ceiling.case_id);
    }
    std::size_t width = 4;
    int disagreements = 0;
    for (const RooflinePoint& point : roofline.points) {
        disagreements += point.disagree() ? 1 : 0;
        if (point.disagree() || !only_disagreements) width = std::max(width, point.case_id.size());
    }
    out += fmt::format("\n{:<{}} {:>9} {:>8} {:>8} {:>7}  {:<22} {:<9} {}\n", "case", width, "time",
                       "FLOP/B", "compute", "memory", "elasticity", "intensity", "elasticity says");
    for (const RooflinePoint& point : roofline.points) {
        if (only_disagreements && !point.disagree()) continue;
        out += fmt::format("{:<{}} {:>9} {:>8} {:>6.0f} % {:>5.0f} %  {:<22} {:<9} {}{}\n",
                           point.case_id, width, time_text(point.time_ns),
                           significant(point.intensity, 3), 100 * point.compute_share,
                           100 * point.memory_share,
                           fmt::format("{:.2f} ({:.2f} to {:.2f})", point.elasticity.value,
                                       point.elasticity.lo, point.elasticity.hi),
                           name(point.by_intensity), name(point.by_elasticity),
                           point.disagree() ? "  <- disagree" : "");
    }
    out += fmt::format(
        "\nshares are of the ceilings above, which this run has reached; the two "
        "disagree on {} of {} cases\n",
        disagreements, roofline.points.size());
    if (roofline.without_elasticity > 0) {
        out += fmt::format("{} cases have no elasticity: their clock could not be read\n",
                           roofline.without_elasticity);
    }
    return out;
}

nlohmann::json roofline_json(const Roofline& roofline) {
    const auto ceiling = [](const Ceiling& each) {
        return nlohmann::json{{"value", number(each.value)}, {"case_id", each.case_id}};
    };
    nlohmann::json tflops = nlohmann::json::object(), points = nlohmann::json::array();
    for (const auto& [precision, each] : roofline.tflops) tflops[precision] = ceiling(each);
    for (const RooflinePoint& point : roofline.points) {
        points.push_back({{"case_id", point.case_id},
                          {"op", point.op},
                          {"precision", point.precision},
                          {"time_ns", number(point.time_ns)},
                          {"intensity_flop_per_byte", number(point.intensity)},
                          {"compute_share", number(point.compute_share)},
                          {"memory_share", number(point.memory_share)},
                          {"elasticity", interval(point.elasticity)},
                          {"by_intensity", name(point.by_intensity)},
                          {"by_elasticity", name(point.by_elasticity)},
                          {"disagree", point.disagree()}});
    }
    return {{"format", "etalon.roofline/1"},
            {"run_id", roofline.run.run_id},
            {"gpu", roofline.gpu},
            {"memory_gbs", ceiling(roofline.memory_gbs)},
            {"tflops", tflops},
            {"without_elasticity", roofline.without_elasticity},
            {"cases", points}};
}

}  // namespace etalon::report
