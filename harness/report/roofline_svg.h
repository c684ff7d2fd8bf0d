// The roofline as a picture for a page or a slide.
#pragma once

#include <map>
#include <string>

#include "harness/report/roofline.h"

namespace etalon::report {

// What the vendor prints; 0 and empty where it is not known.
struct DataSheet {
    double gb_s = 0;
    std::map<std::string, double> tflops;  // by precision
};

// SVG on white, log-log: ceilings that the run reached (solid) apart from the data sheet's
// (dashed), a dot for each case in the colour of its elasticity, with its id and figures as a
// title.
[[nodiscard]] std::string roofline_svg(const Roofline& roofline, const DataSheet& sheet);

}  // namespace etalon::report
