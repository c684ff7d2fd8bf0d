// What bounds each case of a run, told twice: by arithmetic intensity, as the roofline model does
// (Williams, Waterman & Patterson 2009), and by clock elasticity, which needs no count of FLOP or
// bytes (method.md, fact 3). Where the two disagree something is to be learnt.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/report.h"

namespace etalon::report {

enum class Bound {
    memory,   // near the memory ceiling, or the clock hardly matters to it
    compute,  // as fast as the clock, near the compute ceiling
    latency,  // far from both ceilings: launches, dependencies, idle SMs
    mixed     // the elasticity's interval does not decide
};
[[nodiscard]] std::string_view name(Bound bound);

// The best that any case of the run has reached, and which.
struct Ceiling {
    double value = 0;
    std::string case_id;
};

struct RooflinePoint {
    std::string case_id, op, precision;
    double time_ns = 0;        // as the clock was: so were the ceilings reached
    double intensity = 0;      // FLOP / least bytes
    double compute_share = 0;  // of the precision's ceiling
    double memory_share = 0;   // of the memory ceiling
    Estimate elasticity;
    Bound by_intensity = Bound::memory, by_elasticity = Bound::mixed;
    [[nodiscard]] bool disagree() const {
        return by_elasticity != Bound::mixed && by_elasticity != by_intensity;
    }
};

struct Roofline {
    Run run;
    std::string gpu;
    Ceiling memory_gbs;                     // of cold copies; of any cold case without one
    std::map<std::string, Ceiling> tflops;  // by precision
    std::vector<RooflinePoint> points;      // as in the report; only those with an elasticity
    int without_elasticity = 0;
};

[[nodiscard]] Roofline roofline(const Report& report);
// `only_disagreements`: leave the others out of the table.
[[nodiscard]] std::string roofline_text(const Roofline& roofline, bool only_disagreements);
[[nodiscard]] nlohmann::json roofline_json(const Roofline& roofline);  // etalon.roofline/1

}  // namespace etalon::report
