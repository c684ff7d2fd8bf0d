// The report as JSON, format etalon.report/1.
#include "harness/report/changes.h"
#include "harness/report/report.h"
#include "harness/report/text.h"

namespace etalon::report {
namespace {

using nlohmann::json;

json range_json(const std::optional<Range>& range) {
    if (!range) return nullptr;
    return {{"least", number(range->least)}, {"greatest", number(range->greatest)}};
}

// Empty text means unknown.
json text_or_null(const std::string& text) {
    return text.empty() ? json(nullptr) : json(text);
}

json environment_json(const Environment& e) {
    const auto known = [](double value) { return value > 0 ? number(value) : json(nullptr); };
    return {{"hash", e.hash()},
            {"device_kind", e.device_kind},
            {"gpu", text_or_null(e.gpu)},
            {"sm_count", e.sm_count},
            {"memory_bytes", e.memory_bytes},
            {"vbios", text_or_null(e.vbios)},
            {"driver", text_or_null(e.driver)},
            {"cuda_runtime", text_or_null(e.cuda_runtime)},
            {"cublas", text_or_null(e.cublas)},
            {"cudnn", text_or_null(e.cudnn)},
            {"power_limit_w", known(e.power_limit_w)},
            {"ecc", text_or_null(e.ecc)},
            {"mig", text_or_null(e.mig)},
            {"host_cpu", text_or_null(e.host_cpu)},
            {"os", text_or_null(e.os)},
            {"etalon_version", e.etalon_version},
            {"method", e.method},
            {"reference_clock_mhz", known(e.reference_clock_mhz)},
            {"extra", e.extra}};
}

json cell_json(const ReportTable& table, const ReportRow& row, const ReportCell& c) {
    const double time = c.time_ns ? c.time_ns->value : 0;
    const bool timed = time > 0;
    return {{"case_id", c.case_id},
            {"op", table.op},
            {"precision", table.precision},
            {"axes", row.axes},
            {"l2", name(row.l2)},
            {"provider", c.provider},
            {"status", name(c.status)},
            {"reason", text_or_null(c.reason)},
            {"time_ns", interval(c.time_ns)},
            {"norm_time_ns", interval(c.norm_time_ns)},
            {"elasticity", interval(c.elasticity)},
            {"clock_mhz", c.clock_mhz > 0 ? number(c.clock_mhz) : json(nullptr)},
            {"tflops", timed && c.flop > 0 ? number(c.flop / time / 1e3) : json(nullptr)},
            {"gbs", timed && c.bytes_min > 0 ? number(c.bytes_min / time) : json(nullptr)},
            {"ratio", c.ratio ? interval(c.ratio->ratio) : json(nullptr)},
            {"baseline_case_id", c.ratio ? json(c.ratio->baseline_case_id) : json(nullptr)}};
}

}  // namespace

json report_json(const Report& report) {
    json counts = json::object(), summaries = json::array(), cases = json::array();
    for (const Status status :
         {Status::ok, Status::unsupported, Status::failed, Status::incorrect}) {
        const auto found = report.counts.find(status);
        counts[std::string(name(status))] = found == report.counts.end() ? 0 : found->second;
    }
    for (const RatioSummary& s : report.summaries) {
        summaries.push_back({{"op", s.op},
                             {"precision", s.precision},
                             {"provider", s.provider},
                             {"baseline", s.baseline},
                             {"cases", s.cases},
                             {"wins", s.wins},
                             {"losses", s.losses},
                             {"geometric_mean", interval(s.geometric_mean)}});
    }
    for (const ReportTable& table : report.tables) {
        for (const ReportRow& row : table.rows) {
            for (const ReportCell& c : row.cells) cases.push_back(cell_json(table, row, c));
        }
    }
    const Run& run = report.run;
    return {{"format", "etalon.report/1"},
            {"run",
             {{"run_id", run.run_id},
              {"started_at", run.started_at},
              {"finished_at", text_or_null(run.finished_at)},
              {"state", name(run.state)},
              {"suite", run.suite},
              {"device", run.device},
              {"revision", run.revision},
              {"tag", text_or_null(run.tag)},
              {"floor_ns", number(run.floor_ns)},
              {"quantum_ns", number(run.quantum_ns)}}},
            {"environment", environment_json(report.environment)},
            {"conditions",
             {{"clock_mhz", range_json(report.conditions.clock_mhz)},
              {"power_w", range_json(report.conditions.power_w)},
              {"temperature_c", range_json(report.conditions.temperature_c)}}},
            {"counts", counts},
            {"summary", summaries},
            {"cases", cases},
            {"changes", report.changes ? gate_json(*report.changes) : json(nullptr)}};
}

}  // namespace etalon::report
