#include "harness/measure/case_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/core/text.h"
#include "harness/measure/inputs.h"

namespace etalon {
namespace {

using clock = std::chrono::steady_clock;

// Width of the prior on elasticity: ops know their class, not their value (method.md: a GEMM of
// 2048³ has 0.79, one of 8192 × 8192 × 4096 has 0.96).
constexpr double prior_sigma = 0.25;

double since_ms(clock::time_point start) {
    return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

bool is_sound(const Sample& sample) {
    return std::isfinite(sample.duration_ns) && sample.duration_ns > 0 &&
           std::isfinite(sample.clock_mhz) && sample.clock_mhz >= 0;
}

}  // namespace

// A case of the group. Decided: its measurement is final.
struct CaseRunner::Entry {
    Case key;
    Measurement m;
    std::optional<PreparedCase> prepared;
    Contestant contestant;
    double wall_ms = 0;  // of preparing and checking, in all tries
    bool decided = false;
};

struct CaseRunner::Fault {
    Entry* entry = nullptr;
    Status status = Status::failed;
    std::string reason;
};

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

PreparedCase CaseRunner::prepare(const Case& key) {
    const Op& op = registry_.op(key.problem.op);
    const Provider& provider =
        registry_.provider(key.problem.op, key.provider, device_.info().kind);
    if (const auto reason = provider.unsupported(key, device_)) throw Unsupported(*reason);
    const auto earlier = descriptions_.find(key.id());
    return {op,
            provider,
            key,
            device_,
            inputs(key.problem),
            earlier == descriptions_.end() ? "" : std::string_view(earlier->second)};
}

Measurement CaseRunner::blank(const Case& key) const {
    Measurement m;
    m.key = key;
    m.distribution = "normal";
    m.seed = options_.seed;
    m.method = fmt::format("{}/{}", device_.timer(), method_version);
    m.measured_at = utc_now();
    const Work work = registry_.op(key.problem.op).work(key.problem);
    m.flop = work.flop;
    m.bytes_min = work.bytes_min;
    return m;
}

Measurement CaseRunner::run(const Case& key) {
    Group group = run(std::span(&key, 1));
    if (group.measurements.empty()) throw device_error("the device was lost");
    return std::move(group.measurements.front());
}

CaseRunner::Group CaseRunner::run(std::span<const Case> cases) {
    std::vector<Entry> entries(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) entries[i].key = cases[i];
    const auto start = clock::now();
    while (const std::optional<Fault> fault = attempt(entries)) {
        Measurement& m = fault->entry->m;
        m.status = fault->status;
        m.reason = one_line(fault->reason);
        m.time_ns = m.norm_time_ns = m.elasticity = std::nullopt;
        std::erase_if(m.samples, [](const Sample& sample) { return !is_sound(sample); });
        fault->entry->decided = true;
        for (Entry& entry : entries) entry.prepared.reset();
        inputs_.reset();
        if (!device_.usable()) break;
    }
    Group group;
    group.ratios = ratios(entries);
    // What no case can be charged with, such as the load of heated rounds, is shared.
    double own_ms = 0;
    for (const Entry& entry : entries) own_ms += entry.wall_ms + entry.contestant.spent_ms;
    const double shared_ms = std::max(0.0, since_ms(start) - own_ms) /
                             static_cast<double>(std::max<std::size_t>(1, entries.size()));
    for (Entry& entry : entries) {
        if (!entry.decided) continue;
        entry.m.wall_ms = entry.wall_ms + entry.contestant.spent_ms + shared_ms;
        group.measurements.push_back(std::move(entry.m));
    }
    return group;
}

std::optional<CaseRunner::Fault> CaseRunner::attempt(std::span<Entry> entries) {
    if (const auto fault = make_ready(entries)) return fault;
    std::vector<Entry*> ready;
    std::vector<Contestant> contestants;
    for (Entry& entry : entries) {
        if (entry.decided) continue;
        const stats::ElasticityPrior prior{
            registry_.op(entry.key.problem.op).prior_elasticity(entry.key.problem), prior_sigma};
        contestants.push_back({.prepared = &*entry.prepared, .m = &entry.m, .prior = prior});
        ready.push_back(&entry);
    }
    std::optional<Fault> fault;
    const auto start = clock::now();
    try {
        time_in_rounds(device_, contestants, options_, reference_clock_mhz_);
    } catch (const TimingFault& error) {
        fault = Fault{ready[error.who()], Status::failed, error.what()};
    }
    spent_.time_ms += since_ms(start);
    for (std::size_t i = 0; i < ready.size(); ++i) {
        ready[i]->contestant = std::move(contestants[i]);
    }
    if (fault) return fault;
    if (const auto wrong = check_again(entries)) return wrong;
    for (Entry* entry : ready) {
        entry->decided = true;
        entry->prepared.reset();
    }
    return std::nullopt;
}

std::string CaseRunner::check(PreparedCase& prepared) {
    const auto start = clock::now();
    std::string wrong = prepared.check();
    spent_.check_ms += since_ms(start);
    return wrong;
}

std::optional<CaseRunner::Fault> CaseRunner::make_ready(std::span<Entry> entries) {
    for (Entry& entry : entries) {
        if (entry.decided) continue;
        const auto start = clock::now();
        std::optional<Fault> fault;
        entry.m = blank(entry.key);
        try {
            entry.prepared.emplace(prepare(entry.key));
            entry.m.description = entry.prepared->describe();
            spent_.prepare_ms += since_ms(start);
            const std::string wrong = check(*entry.prepared);
            entry.m.error = inputs_->error();
            if (!wrong.empty()) {
                fault = Fault{&entry, Status::incorrect, "before timing, " + wrong};
            }
        } catch (const Unsupported& error) {
            entry.m.status = Status::unsupported;
            entry.m.reason = one_line(error.what());
            entry.decided = true;
        } catch (const std::exception& error) {
            fault = Fault{&entry, Status::failed, error.what()};
        }
        entry.wall_ms += since_ms(start);
        if (fault) return fault;
    }
    return std::nullopt;
}

std::optional<CaseRunner::Fault> CaseRunner::check_again(std::span<Entry> entries) {
    for (Entry& entry : entries) {
        if (entry.decided) continue;
        const auto start = clock::now();
        std::optional<Fault> fault;
        try {
            inputs_->clear_error();
            const std::string wrong = check(*entry.prepared);
            entry.m.error = std::max(entry.m.error, inputs_->error());
            if (!wrong.empty()) {
                fault = Fault{&entry, Status::incorrect, "after timing, " + wrong};
            }
        } catch (const std::exception& error) {
            fault = Fault{&entry, Status::failed, error.what()};
        }
        entry.wall_ms += since_ms(start);
        if (fault) return fault;
    }
    return std::nullopt;
}

std::vector<Ratio> CaseRunner::ratios(std::span<const Entry> entries) const {
    std::vector<Ratio> all;
    const auto timed = [](const Entry& entry) {
        return entry.decided && entry.m.status == Status::ok;
    };
    for (const Entry& entry : entries) {
        const Case base = registry_.baseline(entry.key, device_.info().kind);
        const auto found = std::find_if(entries.begin(), entries.end(),
                                        [&](const Entry& other) { return other.key == base; });
        if (base == entry.key || found == entries.end() || !timed(entry) || !timed(*found)) {
            continue;
        }
        // Their samples have not moved since: the contestants point at the entries' measurements.
        all.push_back({entry.key.id(), base.id(),
                       paired_ratio(found->contestant, entry.contestant, reference_clock_mhz_)});
    }
    return all;
}

}  // namespace etalon
