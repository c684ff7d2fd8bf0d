#include "harness/measure/rounds.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "harness/stats/modes.h"

namespace etalon {
namespace {

using clock = std::chrono::steady_clock;

constexpr int block_samples = 8;
// On an H200 a load pulls the clock down within about 64 ms, and it is back 16 to 130 ms after
// (method.md). Wherever it stands, it is measured; what counts is that the rounds differ.
constexpr double heat_ms = 60;
constexpr auto rest = std::chrono::milliseconds(40);

double since_ms(clock::time_point start) {
    return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

double relative_half_width(const Estimate& estimate) {
    return (estimate.hi - estimate.lo) / 2 / estimate.value;
}

int taken(const Contestant& each) {
    return static_cast<int>(each.m->samples.size());
}

// How many samples the next block takes: the least number is shared by the two passes of a round.
int block_size(const Contestant& each, const MeasureOptions& options, bool heated, bool back) {
    const int rested = static_cast<int>(each.rested.size());
    const int here = heated ? taken(each) - rested : rested;
    const int missing = options.min_samples - here;
    const int wanted = missing <= 0 ? block_samples : back ? missing : (missing + 1) / 2;
    return std::clamp(wanted, 0, options.max_samples - taken(each));
}

void take_block(Contestant& each, int samples, bool heated) {
    const auto start = clock::now();
    BlockSpec spec{.l2 = each.prepared->key().l2, .samples = samples, .heated = heated};
    if (each.blocks.empty()) spec.warmups = warmup_launches;
    Block block = each.prepared->time(spec);
    Measurement& m = *each.m;
    m.samples.insert(m.samples.end(), block.samples.begin(), block.samples.end());
    const int rotated = spec.l2 == L2Mode::hot ? 1 : static_cast<int>(each.prepared->sets());
    for (int i = 0; i < static_cast<int>(block.samples.size()); ++i) {
        each.set.push_back(i % rotated);
        each.block.push_back(static_cast<int>(each.blocks.size()));
        each.load.push_back(heated ? 1 : 0);
    }
    if (!heated) {
        each.rested.insert(each.rested.end(), block.samples.begin(), block.samples.end());
        m.conditions = block.conditions;
    }
    each.blocks.push_back(std::move(block.samples));
    each.spent_ms += since_ms(start);
}

// A case with two speeds says so, and what they follow. Which of them a median falls on is luck, so
// the interval covers both where each is common.
void note_modes(Contestant& each, double quantum_ns, double reference_clock_mhz) {
    constexpr double common = 0.25;
    Measurement& m = *each.m;
    const std::vector<double> times =
        stats::normalised_durations(m.samples, m, reference_clock_mhz);
    const stats::Modes found = stats::modes(times, quantum_ns);
    m.modes.clear();
    if (found.modes.empty()) return;
    std::string factor;
    for (const auto& [name, level] :
         {std::pair("buffer set", &each.set), std::pair("load", &each.load),
          std::pair("block", &each.block)}) {
        if (factor.empty() && stats::follows(found, times, *level)) factor = name;
    }
    m.modes = stats::to_json(found, factor);
    const auto [fast, slow] = std::pair(found.modes[0], found.modes[1]);
    if (std::min(fast.weight, slow.weight) < common) return;
    m.norm_time_ns->lo = std::min(m.norm_time_ns->lo, fast.time_ns);
    m.norm_time_ns->hi = std::max(m.norm_time_ns->hi, slow.time_ns);
}

void judge(Contestant& each, const MeasureOptions& options, double reference_clock_mhz,
           bool seen_heated) {
    Measurement& m = *each.m;
    stats::summarise(m, each.rested, reference_clock_mhz, each.prior, options.min_samples);
    const bool full = taken(each) >= options.max_samples;
    if (seen_heated && relative_half_width(*m.norm_time_ns) <= options.precision) {
        m.stop_reason = "precision";
    } else if (full) {
        m.stop_reason = "max-samples";
    } else if (each.spent_ms >= options.case_budget_ms) {
        m.stop_reason = "budget";
    } else {
        return;
    }
    each.done = true;
    note_modes(each, options.quantum_ns, reference_clock_mhz);
}

}  // namespace

void time_in_rounds(Device& device, std::span<Contestant> cases, const MeasureOptions& options,
                    double reference_clock_mhz) {
    std::mt19937_64 random(options.seed);
    std::vector<std::size_t> order(cases.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto left = [&] {
        return std::any_of(cases.begin(), cases.end(), [](const auto& each) { return !each.done; });
    };
    for (int round = 0; left(); ++round) {
        const bool heated = device.can_heat() && round % 2 == 1;
        std::shuffle(order.begin(), order.end(), random);
        if (heated) {
            device.heat(heat_ms);
        } else if (round > 0 && device.can_heat()) {
            std::this_thread::sleep_for(rest);
        }
        for (const bool back : {false, true}) {
            for (const std::size_t who : order) {
                Contestant& each = cases[who];
                const int samples = block_size(each, options, heated, back);
                if (each.done || samples == 0) continue;
                try {
                    take_block(each, samples, heated);
                } catch (const std::exception& error) {
                    throw TimingFault(who, error.what());
                }
            }
            std::reverse(order.begin(), order.end());
        }
        for (std::size_t who = 0; who < cases.size(); ++who) {
            if (cases[who].done) continue;
            try {
                judge(cases[who], options, reference_clock_mhz, heated || !device.can_heat());
            } catch (const std::exception& error) {
                throw TimingFault(who, error.what());
            }
        }
    }
}

Estimate paired_ratio(const Contestant& baseline, const Contestant& ours,
                      double reference_clock_mhz) {
    const std::size_t pairs = std::min(baseline.blocks.size(), ours.blocks.size());
    const auto normalised = [&](const Contestant& each, std::span<const Sample> samples) {
        return stats::normalised_durations(samples, *each.m, reference_clock_mhz);
    };
    std::vector<double> ratios;
    for (std::size_t i = 0; i < pairs; ++i) {
        ratios.push_back(stats::median(normalised(baseline, baseline.blocks[i])) /
                         stats::median(normalised(ours, ours.blocks[i])));
    }
    if (pairs >= 4) return stats::geometric_mean(ratios);
    return stats::ratio_of_medians(normalised(baseline, baseline.m->samples),
                                   normalised(ours, ours.m->samples), 1);
}

}  // namespace etalon
