// Times the cases of one problem side by side, in rounds.
//
// A round goes through the cases in shuffled order and back (A B B A), a short block each time, so
// that a baseline and its rival see the same drifts; every other round is taken under load, so that
// each case is seen at two clocks and its elasticity is measured rather than presumed (method.md,
// "The timing loop").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/prepared_case.h"
#include "harness/stats/stats.h"

namespace etalon {

struct MeasureOptions {
    double precision = 0.005;  // half-width of the 95 % interval of the reported median
    int min_samples = 15;      // at each clock
    int max_samples = 64;
    double case_budget_ms = 400;  // spent on one case's samples
    std::uint64_t seed = 1;
    double quantum_ns = 0;  // the timer's step: two of them are not two speeds
};

// A case in its rounds. `m` gets samples, conditions, figures and the reason for stopping.
struct Contestant {
    PreparedCase* prepared = nullptr;
    Measurement* m = nullptr;
    stats::ElasticityPrior prior;
    // Of each block, in order: where the n-th blocks of two cases stand, they were neighbours.
    std::vector<std::vector<Sample>> blocks;
    // Of each sample of m.samples: what its speed may follow.
    std::vector<int> set, block, load;
    std::vector<Sample> rested;  // those of m.samples that were taken without load
    double spent_ms = 0;
    bool done = false;
};

// The case that threw what `what()` says while it was timed.
class TimingFault : public std::runtime_error {
   public:
    TimingFault(std::size_t who, const std::string& what) : std::runtime_error(what), who_(who) {}
    [[nodiscard]] std::size_t who() const { return who_; }

   private:
    std::size_t who_;
};

// Goes on until each case's interval is narrow enough or its samples or its time are spent. Throws
// TimingFault.
void time_in_rounds(Device& device, std::span<Contestant> cases, const MeasureOptions& options,
                    double reference_clock_mhz);

// Baseline time / time of `ours` at the reference clock, of neighbouring blocks, with an interval
// of the blocks' scatter (or the samples', where there are fewer than four blocks).
[[nodiscard]] Estimate paired_ratio(const Contestant& baseline, const Contestant& ours,
                                    double reference_clock_mhz);

}  // namespace etalon
