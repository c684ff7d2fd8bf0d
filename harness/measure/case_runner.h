// One case from beginning to end: prepare, check, measure, check again.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/op.h"
#include "harness/core/records.h"

namespace etalon {

class Inputs;

inline constexpr int warmup_launches = 3;  // before the first timed launch of a case

struct MeasureOptions {
    double precision = 0.005;  // half-width of the 95 % interval of the reported median
    int min_samples = 15;
    int max_samples = 64;
    double case_budget_ms = 400;  // spent on one case's samples
    std::uint64_t seed = 1;
};

// A case whose tensors, handles, algorithm and graphs are made: ready to be launched, checked and
// timed. Throws Unsupported, OutOfMemory or a device Error.
class PreparedCase {
   public:
    PreparedCase(const Op& op, const Provider& provider, const Case& key, Device& device,
                 Inputs& inputs);
    // Poisons, launches and compares every set; empty when all is well, else what is wrong.
    [[nodiscard]] std::string check();
    // spec.sets is set here.
    [[nodiscard]] Block time(BlockSpec spec);
    [[nodiscard]] std::string describe() const { return prepared_->describe(); }

   private:
    Case key_;
    Device& device_;
    Inputs& inputs_;
    Tolerance tolerance_;
    std::unique_ptr<Prepared> prepared_;
};

// Runs cases one after another, keeping the tensors of the last problem for the next case of it.
class CaseRunner {
   public:
    CaseRunner(const Registry& registry, Device& device, const MeasureOptions& options);
    ~CaseRunner();

    // Never throws for what the case itself did wrong: that is a status with its reason.
    [[nodiscard]] Measurement run(const Case& key);

    // For those who time a case themselves. Throws Unsupported with the provider's reason. What is
    // prepared uses the tensors of its problem, so it must be gone before another problem's turn.
    [[nodiscard]] PreparedCase prepare(const Case& key);

   private:
    // Tensors of this problem, made if they are not there. Throws.
    [[nodiscard]] Inputs& inputs(const Problem& problem);
    void measure(const Case& key, Measurement& m);
    // Adds blocks until the interval is narrow enough or the samples or the time are spent.
    void sample(PreparedCase& prepared, const Case& key, Measurement& m);

    const Registry& registry_;
    Device& device_;
    MeasureOptions options_;
    double reference_clock_mhz_;
    std::unique_ptr<Inputs> inputs_;
};

}  // namespace etalon
