// A comparison as text for a terminal, as Markdown for a pull request, and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/gate/gate.h"

namespace etalon::report {

// One op of a comparison. Only cases that both sides have measured take part in the figures.
struct OpChanges {
    std::string op;
    std::vector<const gate::Change*> moved;  // anything but `same` and `new`, largest effect first
    int compared = 0;
    std::optional<Estimate> geometric_mean;  // of candidate / reference time
};

// In alphabetical order of ops. Points into the comparison.
[[nodiscard]] std::vector<OpChanges> by_op(const gate::Comparison& comparison);

// Grouped by op, largest effects first; at most `most` lines an op (0: all), the rest counted.
[[nodiscard]] std::string changes_text(const gate::Comparison& comparison, std::size_t most = 20);
[[nodiscard]] std::string changes_markdown(const gate::Comparison& comparison,
                                           std::size_t most = 50);
[[nodiscard]] nlohmann::json changes_json(const gate::Comparison& comparison);

[[nodiscard]] std::string gate_text(const gate::GateResult& result);
[[nodiscard]] std::string gate_markdown(const gate::GateResult& result);
[[nodiscard]] nlohmann::json gate_json(const gate::GateResult& result);  // etalon.gate/1

}  // namespace etalon::report
