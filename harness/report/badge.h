// A badge for a README: is the latest run green?
#pragma once

#include <string>

#include "harness/report/report.h"

namespace etalon::report {

// SVG of two fields, "etalon" and the gate's word in short ("2 slower", "fine, 250 cases").
[[nodiscard]] std::string badge_svg(const Report& report);

}  // namespace etalon::report
