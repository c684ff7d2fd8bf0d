// Can the times of this machine be trusted? The same kernels are measured on a rested device and on
// one under load, and what is left of the difference once times are taken to the reference clock is
// the answer (method.md, "What was measured").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/measure/prepared_case.h"
#include "harness/stats/stats.h"

namespace etalon::selftest {

struct Subject {
    std::string case_id;
    std::string what;  // "small GEMM"
};
// What is measured on this kind of device: memory-bound, compute-bound and short ones.
[[nodiscard]] std::vector<Subject> subjects(DeviceKind kind);

struct LoadBlock {
    bool heated = false;
    std::vector<Sample> samples;
};

// From blocks of both histories. Elasticity is learnt from the first half of the blocks, all
// figures are of the second half: a normalisation is not judged by the data it was fitted to.
struct Row {
    std::string case_id, what;
    Estimate elasticity;
    double cool_ns = 0, hot_ns = 0;  // medians of raw block medians
    double cool_clock_mhz = 0, hot_clock_mhz = 0;
    double raw_gap = 0, norm_gap = 0;  // |hot / cool − 1|, raw and at the reference clock
    double raw_cv = 0, norm_cv = 0;    // scatter of block medians over both histories
    double allowed = 0;                // for norm_gap
    [[nodiscard]] bool trusted() const { return norm_gap <= allowed; }
};
// Throws std::invalid_argument unless each half has a block. Without heated blocks the gap is
// between odd and even ones.
[[nodiscard]] Row judge(std::span<const LoadBlock> blocks, const stats::ElasticityPrior& prior,
                        double reference_clock_mhz);

// 0.5 % over 20 µs, 1 % over 5 µs, 3 % below (method.md and issue figures); on the host, whose
// neighbours share its caches, ten times as much.
[[nodiscard]] double allowed_gap(double time_ns, DeviceKind kind);

// Is a slowdown that was put there seen? A kernel of arithmetic and the same with 1 % more work, in
// neighbouring blocks of both histories.
struct Injection {
    double put = 0.01;
    Estimate paired;        // what neighbouring blocks say, with its interval
    double across = 0;      // the longer one under load against the shorter one at rest, normalised
    double raw_across = 0;  // the same in raw times: what another night would have said
    double allowed = 0;
    [[nodiscard]] bool seen() const;
};
// 0.3 % (issue figure); ten times as much on the host.
[[nodiscard]] double allowed_injection_error(DeviceKind kind);
// Blocks in pairs of one history: the shorter, the longer.
[[nodiscard]] Injection judge_injection(std::span<const LoadBlock> shorter,
                                        std::span<const LoadBlock> longer,
                                        double reference_clock_mhz);

struct Plan {
    int blocks = 16;  // in both histories together
    int samples = 21;
    double rest_ms = 200, heat_ms = 200;
};
[[nodiscard]] std::vector<LoadBlock> measure(Device& device, PreparedCase& prepared,
                                             const Plan& plan);

[[nodiscard]] Injection inject(Device& device, const Plan& plan, double reference_clock_mhz);

}  // namespace etalon::selftest
