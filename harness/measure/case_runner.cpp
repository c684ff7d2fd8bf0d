#include "harness/measure/case_runner.h"

#include <fmt/format.h>

#include <chrono>

#include "harness/core/text.h"
#include "harness/measure/inputs.h"
#include "harness/stats/stats.h"

namespace etalon {
namespace {

using clock = std::chrono::steady_clock;

constexpr int block_samples = 8;  // between two looks at the interval
// Width of the prior on elasticity: ops know their class, not their value (method.md: a GEMM of
// 2048³ has 0.79, one of 8192 × 8192 × 4096 has 0.96).
constexpr double prior_sigma = 0.25;

double since_ms(clock::time_point start) {
    return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

// Named range on the profiler's timeline for as long as it lives.
class Range {
   public:
    Range(Device& device, const std::string& name) : device_(device) { device.range_push(name); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    ~Range() { device_.range_pop(); }

   private:
    Device& device_;
};

double relative_half_width(const Estimate& estimate) {
    return (estimate.hi - estimate.lo) / 2 / estimate.value;
}

}  // namespace

PreparedCase::PreparedCase(const Op& op, const Provider& provider, const Case& key, Device& device,
                           Inputs& inputs)
    : key_(key),
      device_(device),
      inputs_(inputs),
      tolerance_(op.tolerance(key.problem)),
      prepared_(provider.prepare(key, device, inputs.sets())) {}

std::string PreparedCase::check() {
    for (std::size_t set = 0; set < inputs_.sets().size(); ++set) {
        inputs_.poison_outputs(set);
        prepared_->launch(device_.stream(), set);
        device_.synchronize();
        const std::string wrong = inputs_.judge(set, tolerance_);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

Block PreparedCase::time(BlockSpec spec) {
    spec.sets = inputs_.sets().size();
    return device_.time_block(
        [this](Stream stream, std::size_t set) { prepared_->launch(stream, set); }, spec);
}

CaseRunner::CaseRunner(const Registry& registry, Device& device, const MeasureOptions& options)
    : registry_(registry),
      device_(device),
      options_(options),
      reference_clock_mhz_(device.environment().reference_clock_mhz) {}

CaseRunner::~CaseRunner() = default;

Inputs& CaseRunner::inputs(const Problem& problem) {
    if (!inputs_ || inputs_->problem() != problem) {
        inputs_.reset();  // the old tensors make room first
        inputs_ =
            std::make_unique<Inputs>(registry_.op(problem.op), problem, device_, options_.seed);
    }
    inputs_->clear_error();
    return *inputs_;
}

Measurement CaseRunner::run(const Case& key) {
    Measurement m;
    m.key = key;
    m.distribution = "normal";
    m.seed = options_.seed;
    m.method = fmt::format("{}/{}", device_.timer(), method_version);
    m.measured_at = utc_now();
    const auto start = clock::now();
    const auto fail = [&](Status status, const std::string& reason) {
        m.status = status;
        m.reason = one_line(reason);
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
    };
    try {
        measure(key, m);
    } catch (const Unsupported& error) {
        fail(Status::unsupported, error.what());
    } catch (const std::exception& error) {
        fail(Status::failed, error.what());
    }
    if (!device_.usable()) inputs_.reset();
    m.wall_ms = since_ms(start);
    return m;
}

PreparedCase CaseRunner::prepare(const Case& key) {
    const Op& op = registry_.op(key.problem.op);
    const Provider& provider =
        registry_.provider(key.problem.op, key.provider, device_.info().kind);
    if (const auto reason = provider.unsupported(key, device_)) throw Unsupported(*reason);
    return {op, provider, key, device_, inputs(key.problem)};
}

void CaseRunner::measure(const Case& key, Measurement& m) {
    const Work work = registry_.op(key.problem.op).work(key.problem);
    m.flop = work.flop;
    m.bytes_min = work.bytes_min;

    const Range range(device_, key.id());
    PreparedCase prepared = prepare(key);
    m.description = prepared.describe();

    const auto incorrect = [&](std::string_view when, const std::string& wrong) {
        m.status = Status::incorrect;
        m.reason = fmt::format("{} timing, {}", when, wrong);
        m.error = inputs_->error();
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
    };
    if (const std::string wrong = prepared.check(); !wrong.empty()) {
        incorrect("before", wrong);
        return;
    }
    sample(prepared, key, m);
    if (const std::string wrong = prepared.check(); !wrong.empty()) {
        incorrect("after", wrong);
        return;
    }
    m.error = inputs_->error();
}

void CaseRunner::sample(PreparedCase& prepared, const Case& key, Measurement& m) {
    const stats::ElasticityPrior prior{registry_.op(key.problem.op).prior_elasticity(key.problem),
                                       prior_sigma};
    const auto start = clock::now();
    BlockSpec spec{.l2 = key.l2, .warmups = warmup_launches, .samples = options_.min_samples};
    for (;;) {
        const Block block = prepared.time(spec);
        m.samples.insert(m.samples.end(), block.samples.begin(), block.samples.end());
        m.conditions = block.conditions;
        stats::summarise(m, reference_clock_mhz_, prior, options_.min_samples);
        const int taken = static_cast<int>(m.samples.size());
        if (relative_half_width(*m.norm_time_ns) <= options_.precision) {
            m.stop_reason = "precision";
            return;
        }
        if (taken >= options_.max_samples) {
            m.stop_reason = "max-samples";
            return;
        }
        if (since_ms(start) >= options_.case_budget_ms) {
            m.stop_reason = "budget";
            return;
        }
        spec.warmups = 0;
        spec.samples = std::min(block_samples, options_.max_samples - taken);
    }
}

}  // namespace etalon
