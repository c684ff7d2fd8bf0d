// The two stable tables, as CSV (RFC 4180) and JSON. Column names and order are a contract.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "harness/core/text.h"
#include "harness/store/store_impl.h"

namespace etalon {
namespace {

// A value and how it is written; unknown is neither text nor number.
struct Field {
    enum class Kind { unknown, text, number, integer } kind = Kind::unknown;
    std::string text;
    double number = 0;
    std::int64_t integer = 0;

    Field() = default;
    Field(std::string value) : kind(Kind::text), text(std::move(value)) {}
    Field(double value)
        : kind(std::isfinite(value) ? Kind::number : Kind::unknown), number(value) {}
    Field(std::int64_t value) : kind(Kind::integer), integer(value) {}
};

constexpr std::array measurement_names = {
    "run_id",     "started_at",    "gpu",           "driver",     "cuda_runtime",
    "cublas",     "cudnn",         "suite",         "case_id",    "op",
    "precision",  "provider",      "variant",       "l2",         "axes",
    "status",     "reason",        "samples",       "time_ns",    "time_lo_ns",
    "time_hi_ns", "norm_time_ns",  "norm_lo_ns",    "norm_hi_ns", "clock_mhz",
    "elasticity", "elasticity_lo", "elasticity_hi", "flop",       "bytes_min",
    "power_w",    "method"};
constexpr std::array ratio_names = {"run_id", "case_id", "baseline_case_id", "op",      "precision",
                                    "axes",   "ratio",   "ratio_lo",         "ratio_hi"};

Field number(const std::optional<double>& value) {
    return value ? Field(*value) : Field();
}

void push(std::vector<Field>& fields, const std::optional<Estimate>& estimate) {
    if (!estimate) {
        fields.resize(fields.size() + 3);
        return;
    }
    for (const double value : {estimate->value, estimate->lo, estimate->hi}) {
        fields.emplace_back(value);
    }
}

std::vector<Field> fields_of(const MeasurementRow& row) {
    const Measurement& m = row.m;
    std::vector<Field> fields = {row.run_id,
                                 row.started_at,
                                 row.gpu,
                                 row.driver,
                                 row.cuda_runtime,
                                 row.cublas,
                                 row.cudnn,
                                 row.suite,
                                 row.case_id,
                                 m.key.problem.op,
                                 std::string(name(m.key.problem.precision)),
                                 m.key.provider,
                                 m.key.variant,
                                 std::string(name(m.key.l2)),
                                 m.key.problem.axes.text(';'),
                                 std::string(name(m.status)),
                                 m.reason,
                                 std::int64_t{row.sample_count}};
    push(fields, m.time_ns);
    push(fields, m.norm_time_ns);
    fields.push_back(m.clock_mhz > 0 ? Field(m.clock_mhz) : Field());
    push(fields, m.elasticity);
    fields.emplace_back(m.flop);
    fields.emplace_back(m.bytes_min);
    fields.push_back(number(m.conditions.power_w));
    fields.emplace_back(m.method);
    return fields;
}

std::vector<Field> fields_of(const RatioRow& row) {
    return {row.run_id,        row.ratio.case_id, row.ratio.baseline_case_id, row.op,
            row.precision,     row.axes,          row.ratio.ratio.value,      row.ratio.ratio.lo,
            row.ratio.ratio.hi};
}

std::string csv(const Field& field) {
    switch (field.kind) {
        case Field::Kind::unknown:
            return "";
        case Field::Kind::number:  // shortest text that reads back the same, in any locale
            return fmt::format("{}", field.number);
        case Field::Kind::integer:
            return fmt::format("{}", field.integer);
        case Field::Kind::text:
            break;
    }
    if (field.text.find_first_of("\",\r\n") == std::string::npos) return field.text;
    std::string quoted = "\"";
    for (const char c : field.text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + "\"";
}

std::string json(const Field& field) {
    if (field.kind == Field::Kind::unknown) return "null";
    if (field.kind != Field::Kind::text) return csv(field);
    if (field.text.empty()) return "null";
    return nlohmann::json(field.text)
        .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Table {
   public:
    Table(std::string_view table, std::span<const char* const> names, bool as_json,
          const std::function<void(std::string_view)>& write)
        : names_(names), as_json_(as_json), write_(write) {
        if (as_json_) {
            write_(fmt::format("{{\"format\":\"etalon.{}/1\",\"rows\":[", table));
        } else {
            std::vector<std::string> header(names.begin(), names.end());
            write_(join(header, ",") + "\n");
        }
    }
    void row(const std::vector<Field>& fields) {
        std::string line = as_json_ ? (first_ ? "\n{" : ",\n{") : "";
        first_ = false;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i > 0) line += ',';
            line +=
                as_json_ ? fmt::format("\"{}\":{}", names_[i], json(fields[i])) : csv(fields[i]);
        }
        write_(line + (as_json_ ? "}" : "\n"));
    }
    void end() {
        if (as_json_) write_("\n]}\n");
    }

   private:
    std::span<const char* const> names_;
    bool as_json_;
    bool first_ = true;
    const std::function<void(std::string_view)>& write_;
};

}  // namespace

void Store::export_table(const std::string& table, const std::string& format,
                         const std::function<void(std::string_view)>& write) const {
    const std::vector<std::string> tables = {"measurements", "ratios"};
    const std::vector<std::string> formats = {"csv", "json"};
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) {
        throw usage_error(unknown_name("table", table, tables));
    }
    if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
        throw usage_error(unknown_name("format", format, formats));
    }
    const bool as_json = format == "json";
    const auto each_run = [&](Table out, const auto& rows_of) {
        for (const Run& run : runs()) {
            for (const auto& row : rows_of(run.run_id)) out.row(fields_of(row));
        }
        out.end();
    };
    if (table == "ratios") {
        each_run(Table(table, ratio_names, as_json, write),
                 [&](const std::string& id) { return ratios(id); });
    } else {
        each_run(Table(table, measurement_names, as_json, write),
                 [&](const std::string& id) { return measurements(id); });
    }
}

}  // namespace etalon
