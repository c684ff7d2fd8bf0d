#include "harness/bench_program/timed_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "harness/core/text.h"
#include "harness/stats/stats.h"

namespace etalon::bench_program {
namespace {

// A result that is not the reference's.
class Incorrect : public Error {
   public:
    explicit Incorrect(const std::string& what) : Error(ExitCode::regression, what) {}
};

// libbenchmark tells a skipped case from a failed one since 1.8.
template <typename State>
void skip(State& state, const std::string& why) {
    if constexpr (requires { state.SkipWithMessage(why); }) {
        state.SkipWithMessage(why);
    } else {
        state.SkipWithError(why.c_str());
    }
}

double median_ns(const std::vector<Sample>& samples) {
    std::vector<double> times;
    for (const Sample& sample : samples) times.push_back(sample.duration_ns);
    return stats::median(times);
}

// The other side of a ratio. A baseline that fails costs the ratio, not the case.
class Baseline {
   public:
    explicit Baseline(PreparedCase& prepared) : prepared_(&prepared) {}
    explicit Baseline(const std::string& why_not) : why_not_(why_not) {}

    [[nodiscard]] std::optional<double> median_ns(const BlockSpec& spec) {
        if (prepared_ == nullptr) return std::nullopt;
        try {
            return bench_program::median_ns(prepared_->time(spec).samples);
        } catch (const std::exception& error) {
            give_up(error.what());
            return std::nullopt;
        }
    }
    void check() {
        if (prepared_ == nullptr) return;
        try {
            if (const std::string wrong = prepared_->check(); !wrong.empty()) give_up(wrong);
        } catch (const std::exception& error) {
            give_up(error.what());
        }
    }
    [[nodiscard]] bool usable() const { return prepared_ != nullptr; }
    // Empty where the case is its own baseline.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }

   private:
    void give_up(const std::string& why) {
        prepared_ = nullptr;
        why_not_ = one_line(why);
    }
    PreparedCase* prepared_ = nullptr;
    std::string why_not_;
};

// Hands out timed launches one by one. They are taken in short blocks that alternate with the
// baseline's, A B B A ..., so that both see the same clocks; the ratio is formed per pair of
// blocks.
class Launches {
   public:
    Launches(PreparedCase& prepared, Baseline& baseline, L2Mode l2,
             benchmark::IterationCount wanted)
        : prepared_(prepared), baseline_(baseline), left_(wanted) {
        spec_.l2 = l2;
        spec_.warmups = warmup_launches;
        block_ = static_cast<int>(std::clamp<benchmark::IterationCount>(wanted / 5, 8, 64));
    }

    double next_ns() {
        if (at_ == samples_.size()) take_block();
        return samples_[at_++].duration_ns;
    }
    [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
    [[nodiscard]] const std::vector<double>& ratios() const { return ratios_; }

   private:
    void take_block() {
        spec_.samples = static_cast<int>(std::min<benchmark::IterationCount>(block_, left_));
        std::vector<Sample> ours;
        std::optional<double> theirs;
        if (baseline_first_) theirs = baseline_.median_ns(spec_);
        ours = prepared_.time(spec_).samples;
        if (!baseline_first_) theirs = baseline_.median_ns(spec_);
        if (theirs) ratios_.push_back(*theirs / median_ns(ours));
        samples_.insert(samples_.end(), ours.begin(), ours.end());
        left_ -= spec_.samples;
        spec_.warmups = 0;
        baseline_first_ = !baseline_first_;
    }

    PreparedCase& prepared_;
    Baseline& baseline_;
    benchmark::IterationCount left_;
    BlockSpec spec_;
    int block_ = 8;
    bool baseline_first_ = false;
    std::size_t at_ = 0;
    std::vector<Sample> samples_;
    std::vector<double> ratios_;
};

double median_clock_mhz(const std::vector<Sample>& samples) {
    std::vector<double> clocks;
    for (const Sample& sample : samples) {
        if (sample.clock_mhz > 0) clocks.push_back(sample.clock_mhz);
    }
    return clocks.empty() ? 0 : stats::median(clocks);
}

}  // namespace

PreparedCase& Session::ready(const Case& key) {
    if (key.problem != problem_) {
        prepared_.clear();  // they use the tensors that are about to go
        problem_ = key.problem;
    }
    const std::string id = key.id();
    if (const auto found = prepared_.find(id); found != prepared_.end()) return found->second;
    PreparedCase fresh = runner_.prepare(key);
    if (const std::string wrong = fresh.check(); !wrong.empty()) {
        throw Incorrect(fmt::format("incorrect before timing, {}", wrong));
    }
    return prepared_.emplace(id, std::move(fresh)).first->second;
}

void Session::time(const Case& key, benchmark::State& state) {
    PreparedCase& prepared = ready(key);
    const Case base = registry_.baseline(key, device_.info().kind);
    Baseline baseline = [&] {
        if (base == key) return Baseline("");
        try {
            return Baseline(ready(base));
        } catch (const std::exception& error) {
            return Baseline(one_line(error.what()));
        }
    }();

    double sum_ns = 0;
    Launches launches(prepared, baseline, key.l2, state.max_iterations);
    for (auto _ : state) {
        const double ns = launches.next_ns();
        sum_ns += ns;
        state.SetIterationTime(ns / 1e9);
    }
    if (const std::string wrong = prepared.check(); !wrong.empty()) {
        throw Incorrect(fmt::format("incorrect after timing, {}", wrong));
    }
    baseline.check();

    // Of the mean, as the time that stands beside them.
    const double mean_ns = sum_ns / static_cast<double>(launches.samples().size());
    const Work work = registry_.op(key.problem.op).work(key.problem);
    state.counters["GB/s"] = work.bytes_min / mean_ns;
    if (work.flop > 0) state.counters["TFLOP/s"] = work.flop / mean_ns / 1e3;
    if (const double clock = median_clock_mhz(launches.samples()); clock > 0) {
        state.counters["clock_mhz"] = clock;
    }
    if (baseline.usable() && !launches.ratios().empty()) {
        state.counters["ratio"] = stats::median(launches.ratios());
    } else if (!baseline.why_not().empty()) {
        state.SetLabel(fmt::format("no ratio: {}", baseline.why_not()).c_str());
    }
}

void Session::run(const Case& key, benchmark::State& state) {
    const auto fail = [&](const std::string& why, ExitCode code) {
        if (exit_ != ExitCode::regression) exit_ = code;  // an incorrect result outranks the rest
        state.SkipWithError(one_line(why).c_str());
    };
    if (!device_.usable()) {
        fail("the device was lost in an earlier case; run again without that one",
             ExitCode::device_failure);
        return;
    }
    try {
        time(key, state);
    } catch (const Unsupported& error) {
        skip(state, fmt::format("unsupported: {}", one_line(error.what())));
    } catch (const Incorrect& error) {
        fail(error.what(), ExitCode::regression);
    } catch (const std::exception& error) {
        fail(error.what(), ExitCode::device_failure);
    }
}

}  // namespace etalon::bench_program
