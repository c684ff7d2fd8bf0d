#include "harness/cost/served_check.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::cost {

std::vector<ServedRun> parse_served(std::string_view csv, const std::string& file) {
    std::vector<ServedRun> runs;
    std::map<std::string, std::size_t> column;
    int line = 0;
    for (const std::string& raw : split(csv, '\n')) {
        ++line;
        if (trim(raw).empty()) continue;
        const std::vector<std::string> fields = split(trim(raw), ',');
        if (column.empty()) {
            for (std::size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
            continue;
        }
        const auto text = [&](const char* name) -> const std::string& {
            const auto at = column.find(name);
            if (at == column.end() || at->second >= fields.size()) {
                throw usage_error(fmt::format("{}:{}: column '{}' is missing", file, line, name));
            }
            return fields[at->second];
        };
        const auto number = [&](const char* name) {
            const std::string& field = text(name);
            double value = 0;
            const auto [end, error] =
                std::from_chars(field.data(), field.data() + field.size(), value);
            if (error != std::errc{} || end != field.data() + field.size() || !(value > 0)) {
                throw usage_error(
                    fmt::format("{}:{}: {} '{}' is no positive number", file, line, name, field));
            }
            return value;
        };
        runs.push_back({text("backend"), std::llround(number("isl")), std::llround(number("osl")),
                        std::llround(number("batch_size")), static_cast<int>(number("tp_size")),
                        number("silicon_tpot_ms")});
    }
    return runs;
}

std::vector<ServedError> check_served(const Model& model, const std::vector<ServedRun>& runs,
                                      Lookup& lookup) {
    std::vector<ServedError> errors;
    for (const ServedRun& run : runs) {
        const bool trtllm = run.backend == "trtllm";
        const Layout layout{.tp = run.tp,
                            .precision = Precision::fp8,
                            .kv_precision = trtllm ? Precision::fp8 : Precision::bf16,
                            .static_scales = trtllm};
        const Choice choice{.providers = {run.backend}};
        Served predicted =
            serve(model, layout, choice, {.isl = run.isl, .osl = run.osl}, run.batch, lookup);
        const double relative = predicted.tpot_ns.value / (1e6 * run.tpot_ms) - 1;
        errors.push_back({run, std::move(predicted), relative});
    }
    return errors;
}

double mean_absolute(const std::vector<ServedError>& errors, const std::string& backend) {
    double sum = 0;
    int count = 0;
    for (const ServedError& each : errors) {
        if (each.run.backend != backend) continue;
        sum += std::fabs(each.relative);
        ++count;
    }
    return count == 0 ? NAN : sum / count;
}

}  // namespace etalon::cost
