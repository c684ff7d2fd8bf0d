// Problem and Case: what is computed, and by whom, with one canonical spelling.
//
// A case id is `op/precision/axes/provider[+variant]/l2`, for example
//   gemm/bf16/m=4096,n=4096,k=4096/cublaslt/cold
//   gemm/bf16/m=4096,n=4096,k=4096/cublaslt+first/cold
// Axes stand in the order the op declares them. An optional axis (one that most cases leave at its
// default) is written only when it differs from the default, so an op can gain an axis without
// renaming its history.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/precision.h"

namespace etalon {

enum class DeviceKind { cuda, host };
[[nodiscard]] std::string_view name(DeviceKind kind);

// cold: the last-level cache is emptied before every sample. hot: inputs were just used.
enum class L2Mode { cold, hot };
[[nodiscard]] std::string_view name(L2Mode mode);
[[nodiscard]] L2Mode parse_l2(std::string_view text);

struct AxisSpec {
    std::string name;
    std::int64_t default_value = 0;
    bool optional = false;  // left out of the id when at its default
    std::int64_t min = 1;
    std::int64_t max = std::int64_t{1} << 40;
    std::string help;
};

struct Axis {
    std::string name;
    std::int64_t value = 0;
    auto operator<=>(const Axis&) const = default;
};

// Axis values of one problem, complete and in the op's order.
class Axes {
   public:
    Axes() = default;
    // Completes `given` with defaults. Throws a usage Error for an unknown name (nearest named), a
    // repeated name, a missing required axis or a value outside [min, max].
    Axes(const std::vector<AxisSpec>& specs, const std::vector<Axis>& given,
         std::string_view op_name);

    [[nodiscard]] std::int64_t at(std::string_view name) const;  // throws std::out_of_range
    [[nodiscard]] const std::vector<Axis>& values() const { return values_; }
    // `m=4096,n=64`; optional axes at their default left out. The stable tables use ';'.
    [[nodiscard]] std::string text(char separator = ',') const;
    auto operator<=>(const Axes&) const = default;

   private:
    std::vector<Axis> values_;
    std::vector<bool> shown_;
};

// Parses `m=4096,n=64` (separators ',' or ';'). `m=4096.0`, `0x10`, `1e3` and blanks are refused
// or folded so that one value has one spelling: only decimal integers are taken.
[[nodiscard]] std::vector<Axis> parse_axes(std::string_view text);

struct Problem {
    std::string op;
    Precision precision = Precision::fp32;
    Axes axes;
    [[nodiscard]] std::string id() const;  // op/precision/axes
    auto operator<=>(const Problem&) const = default;
};

// "cublaslt", "cublaslt+first"
[[nodiscard]] std::string provider_text(std::string_view provider, std::string_view variant);

struct Case {
    Problem problem;
    std::string provider;
    std::string variant;  // empty: the provider's default
    L2Mode l2 = L2Mode::cold;
    [[nodiscard]] std::string id() const;
    auto operator<=>(const Case&) const = default;
};

// The five parts of a case id, unchecked against any op. Throws a usage Error for a bad shape.
struct CaseIdParts {
    std::string op, precision, axes, provider, variant, l2;
};
[[nodiscard]] CaseIdParts split_case_id(std::string_view id);

}  // namespace etalon
