#include "harness/core/environment_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/core/text.h"

namespace etalon {
namespace {

std::string number(double value) {
    return value == 0 ? std::string() : fmt::format("{}", value);
}

std::vector<std::pair<std::string, std::string>> fields(const Environment& e) {
    std::vector<std::pair<std::string, std::string>> all = {
        {"device_kind", e.device_kind},
        {"gpu", e.gpu},
        {"sm_count", number(e.sm_count)},
        {"memory_bytes", number(static_cast<double>(e.memory_bytes))},
        {"vbios", e.vbios},
        {"driver", e.driver},
        {"cuda_runtime", e.cuda_runtime},
        {"cublas", e.cublas},
        {"cudnn", e.cudnn},
        {"power_limit_w", number(e.power_limit_w)},
        {"ecc", e.ecc},
        {"mig", e.mig},
        {"host_cpu", e.host_cpu},
        {"os", e.os},
        {"etalon_version", e.etalon_version},
        {"method", number(e.method)},
        {"reference_clock_mhz", number(e.reference_clock_mhz)},
    };
    for (const auto& [key, value] : e.extra) all.emplace_back("extra." + key, value);
    return all;
}

using ValuesByField = std::map<std::string, std::set<std::string>>;

ValuesByField values_by_field(std::span<const Environment> environments,
                              std::vector<std::string>& order) {
    ValuesByField values;
    for (const Environment& environment : environments) {
        for (auto& [field, value] : fields(environment)) {
            if (std::find(order.begin(), order.end(), field) == order.end()) {
                order.push_back(field);
            }
            values[field].insert(std::move(value));
        }
    }
    return values;
}

std::string joined(const ValuesByField& values, const std::string& field) {
    const auto found = values.find(field);
    if (found == values.end()) return "-";
    std::vector<std::string> shown;
    for (const std::string& value : found->second) shown.push_back(value.empty() ? "-" : value);
    return join(shown, " | ");
}

}  // namespace

std::string FieldChange::text() const {
    return fmt::format("{} {} -> {}", field, before, after);
}

std::vector<FieldChange> environment_changes(std::span<const Environment> before,
                                             std::span<const Environment> after) {
    if (before.empty() || after.empty()) return {};
    std::vector<std::string> order;
    const ValuesByField old_values = values_by_field(before, order);
    const ValuesByField new_values = values_by_field(after, order);
    std::vector<FieldChange> changes;
    for (const std::string& field : order) {
        FieldChange change{field, joined(old_values, field), joined(new_values, field)};
        if (change.before != change.after) changes.push_back(std::move(change));
    }
    return changes;
}

}  // namespace etalon
