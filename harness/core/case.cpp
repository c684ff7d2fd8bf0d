#include "harness/core/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon {

std::string_view name(DeviceKind kind) {
    return kind == DeviceKind::cuda ? "cuda" : "host";
}
std::string_view name(L2Mode mode) {
    return mode == L2Mode::cold ? "cold" : "hot";
}

L2Mode parse_l2(std::string_view text) {
    if (text == "cold") return L2Mode::cold;
    if (text == "hot") return L2Mode::hot;
    const std::vector<std::string> known = {"cold", "hot"};
    throw usage_error(unknown_name("L2 mode", text, known));
}

Axes::Axes(const std::vector<AxisSpec>& specs, const std::vector<Axis>& given,
           std::string_view op_name) {
    std::vector<std::string> known;
    for (const AxisSpec& spec : specs) known.push_back(spec.name);
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (std::find(known.begin(), known.end(), given[i].name) == known.end()) {
            throw usage_error(unknown_name(fmt::format("{} axis", op_name), given[i].name, known));
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (given[i].name == given[j].name) {
                throw usage_error(fmt::format("axis '{}' of op '{}' is given twice; leave one",
                                              given[i].name, op_name));
            }
        }
    }
    for (const AxisSpec& spec : specs) {
        const auto found = std::find_if(given.begin(), given.end(),
                                        [&](const Axis& axis) { return axis.name == spec.name; });
        if (found == given.end() && !spec.optional) {
            throw usage_error(fmt::format("axis '{}' of op '{}' is missing; give {}", spec.name,
                                          op_name, join(known, ", ")));
        }
        const std::int64_t value = found == given.end() ? spec.default_value : found->value;
        if (value < spec.min || value > spec.max) {
            throw usage_error(
                fmt::format("axis {}={} of op '{}' is out of range; it takes {} to {}", spec.name,
                            value, op_name, spec.min, spec.max));
        }
        values_.push_back({spec.name, value});
        shown_.push_back(!spec.optional || value != spec.default_value);
    }
}

std::int64_t Axes::at(std::string_view name) const {
    for (const Axis& axis : values_) {
        if (axis.name == name) return axis.value;
    }
    throw std::out_of_range(fmt::format("no axis '{}'", name));
}

std::string Axes::text(char separator) const {
    std::string out;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (!shown_[i]) continue;
        if (!out.empty()) out += separator;
        out += fmt::format("{}={}", values_[i].name, values_[i].value);
    }
    return out;
}

std::vector<Axis> parse_axes(std::string_view text) {
    std::string commas(text);
    for (char& c : commas) {
        if (c == ';') c = ',';
    }
    std::vector<Axis> axes;
    for (const std::string& part : split(commas, ',')) {
        const std::string item = trim(part);
        const std::size_t equals = item.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw usage_error(
                fmt::format("'{}' is not an axis; write name=value, as in m=4096", item));
        }
        const std::string key = trim(item.substr(0, equals));
        const std::string value = trim(item.substr(equals + 1));
        Axis axis{key, 0};
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), axis.value);
        if (error != std::errc{} || end != value.data() + value.size()) {
            throw usage_error(fmt::format(
                "axis {}='{}' is not a whole decimal number that fits 64 bits", key, value));
        }
        axes.push_back(axis);
    }
    return axes;
}

std::string Problem::id() const {
    return fmt::format("{}/{}/{}", op, name(precision), axes.text());
}

std::string provider_text(std::string_view provider, std::string_view variant) {
    return fmt::format("{}{}{}", provider, variant.empty() ? "" : "+", variant);
}

std::string Case::id() const {
    return fmt::format("{}/{}/{}", problem.id(), provider_text(provider, variant), name(l2));
}

CaseIdParts split_case_id(std::string_view id) {
    const std::vector<std::string> parts = split(id, '/');
    if (parts.size() != 5) {
        throw usage_error(
            fmt::format("'{}' is not a case id; write op/precision/axes/provider/l2, as in "
                        "gemm/bf16/m=4096,n=4096,k=4096/cublaslt/cold",
                        id));
    }
    CaseIdParts out{parts[0], parts[1], parts[2], parts[3], "", parts[4]};
    if (const std::size_t plus = out.provider.find('+'); plus != std::string::npos) {
        out.variant = out.provider.substr(plus + 1);
        out.provider.resize(plus);
    }
    return out;
}

}  // namespace etalon
