// Which precisions the host device measures.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "harness/core/precision.h"
#include "harness/device/device.h"

namespace etalon {

// Why this CPU does not measure the precision; nullopt where it does.
[[nodiscard]] inline std::optional<std::string> unmeasured_on_host(Precision precision,
                                                                   const DeviceInfo& cpu) {
    if (precision == Precision::fp32 || (precision == Precision::bf16 && cpu.bf16)) {
        return std::nullopt;
    }
    if (precision == Precision::bf16) return "this CPU has no bf16 instructions (avx512_bf16)";
    return fmt::format("the host device measures fp32 and bf16, not {}", name(precision));
}

}  // namespace etalon
