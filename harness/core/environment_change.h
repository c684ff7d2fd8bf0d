// Where two sets of environments differ, field by field.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/records.h"

namespace etalon {

struct FieldChange {
    std::string field;   // driver, cudnn, extra.onednn, ...
    std::string before;  // several values are joined with " | "; "-" where unknown
    std::string after;
    // "driver 580.95 -> 590.10"
    [[nodiscard]] std::string text() const;
};

// Fields whose set of values differs, in the order of Environment. Empty when either side is.
[[nodiscard]] std::vector<FieldChange> environment_changes(std::span<const Environment> before,
                                                           std::span<const Environment> after);

}  // namespace etalon
