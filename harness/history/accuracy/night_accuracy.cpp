#include "harness/history/accuracy/night_accuracy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/gate/compare.h"
#include "harness/gate/suspects.h"
#include "harness/history/detect.h"
#include "harness/stats/simulation.h"

namespace etalon::accuracy {
namespace {

using gate::Change;
using gate::Comparison;
using gate::RunSet;

constexpr std::size_t window = 20;

struct SimulatedCase {
    std::string id;
    double time_ns = 0, sigma = 0;
};

std::vector<SimulatedCase> thousand_cases() {
    std::vector<SimulatedCase> cases;
    for (int i = 0; i < 1000; ++i) {
        const double time_ns = i < 600 ? 100e3 : i < 850 ? 10e3 : 3e3;
        const double sigma = i < 600 ? 0.003 : i < 850 ? 0.006 : 0.015;
        cases.push_back({fmt::format("gemm/bf16/m={}/etalon/cold", i + 1), time_ns, sigma});
    }
    return cases;
}

MeasurementRow row_of(const SimulatedCase& c, std::size_t run, double log_effect) {
    MeasurementRow row;
    row.run_id = fmt::format("run{:04}", run);
    row.started_at = row.run_id;
    row.case_id = c.id;
    row.device = "cuda:0";
    row.sample_count = 31;
    row.m.method = "cupti/1";
    row.m.key.problem.op = "gemm";
    row.m.key.provider = "etalon";
    const double time = c.time_ns * std::exp(log_effect);
    row.m.norm_time_ns = Estimate{time, time, time};  // what one run leaves open is in `sigma`
    return row;
}

RunSet runs_of(stats::Simulation& random, const std::vector<SimulatedCase>& cases,
               std::size_t first, std::size_t count, double log_effect = 0) {
    RunSet set;
    for (std::size_t run = first; run < first + count; ++run) {
        for (const SimulatedCase& c : cases) {
            set.rows.push_back(row_of(c, run, log_effect + c.sigma * random.normal()));
        }
    }
    return set;
}

RunSet only(const RunSet& set, const std::set<std::string>& ids) {
    RunSet part;
    for (const MeasurementRow& row : set.rows) {
        if (ids.contains(row.case_id)) part.rows.push_back(row);
    }
    return part;
}

std::vector<SimulatedCase> suspected(const std::vector<SimulatedCase>& cases,
                                     const Comparison& first_look) {
    std::set<std::string> ids;
    for (const std::size_t i : gate::suspects(first_look)) {
        ids.insert(first_look.changes[i].case_id);
    }
    std::vector<SimulatedCase> found;
    for (const SimulatedCase& c : cases) {
        if (ids.contains(c.id)) found.push_back(c);
    }
    return found;
}

// The second look over some suspects: the fresh runs alone against the same reference.
Comparison second_look(stats::Simulation& random, const RunSet& reference,
                       const std::vector<SimulatedCase>& cases, double log_effect,
                       const gate::CompareOptions& options) {
    std::set<std::string> ids;
    for (const SimulatedCase& c : cases) ids.insert(c.id);
    const auto repeats = static_cast<std::size_t>(gate::SuspectOptions{}.repeats);
    return gate::compare(only(reference, ids), runs_of(random, cases, 200, repeats, log_effect),
                         options);
}

bool flagged(const Change& change, double fdr, const gate::CompareOptions& options) {
    return change.ratio && fdr <= options.fdr &&
           std::log(change.ratio->value) >= std::log1p(change.least_effect);
}

struct Night {
    bool false_alarm = false;
    std::size_t suspects = 0;
    std::size_t slowed = 0, found_2 = 0, found_1 = 0;
};

Night one_night(std::uint64_t seed) {
    stats::Simulation random(seed);
    const gate::CompareOptions options{.reference_is_history = true};
    const std::vector<SimulatedCase> cases = thousand_cases();
    const RunSet reference = runs_of(random, cases, 0, window);

    const Comparison quiet = gate::compare(reference, runs_of(random, cases, 100, 1), options);
    const std::vector<SimulatedCase> quiet_suspects = suspected(cases, quiet);
    const Comparison second = second_look(random, reference, quiet_suspects, 0, options);
    Night night;
    night.suspects = quiet_suspects.size();
    const std::vector<double> quiet_fdr = gate::slower_fdr(second.changes);
    for (std::size_t i = 0; i < quiet_fdr.size(); ++i) {
        night.false_alarm = night.false_alarm || flagged(second.changes[i], quiet_fdr[i], options);
    }

    // One slowed case at a time joins the quiet suspects of the night: its own first look decides
    // whether it does, and the correction is over all of them.
    const std::vector<SimulatedCase> slowed(cases.begin(), cases.begin() + 20);
    std::set<std::string> ids;
    for (const SimulatedCase& c : slowed) ids.insert(c.id);
    const RunSet their_reference = only(reference, ids);
    for (const double size : {0.02, 0.01}) {
        const double effect = std::log1p(size);
        const Comparison first =
            gate::compare(their_reference, runs_of(random, slowed, 100, 1, effect), options);
        const Comparison again =
            second_look(random, reference, suspected(slowed, first), effect, options);
        for (const Change& change : again.changes) {
            std::vector<Change> together = second.changes;
            together.push_back(change);
            const double fdr = gate::slower_fdr(together).back();
            (size > 0.015 ? night.found_2 : night.found_1) += flagged(change, fdr, options);
        }
    }
    night.slowed = slowed.size();
    return night;
}

}  // namespace

std::vector<Check> nights_of_a_thousand_cases(std::uint64_t seed, std::size_t nights) {
    std::vector<Night> all(nights);
    in_parallel(nights, [&](std::size_t i) {
        all[i] = one_night(seed * 0x9e3779b97f4a7c15ULL + 7777 + i);
    });
    std::size_t alarms = 0, slowed = 0, found_2 = 0, found_1 = 0, measured_again = 0;
    for (const Night& night : all) {
        alarms += night.false_alarm;
        slowed += night.slowed;
        found_2 += night.found_2;
        found_1 += night.found_1;
        measured_again += night.suspects;
    }
    const auto share = [](std::size_t part, std::size_t whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    return {{fmt::format("identical nights of 1000 cases with any flagged case (cases measured "
                         "again each night: {:.0f})",
                         share(measured_again, nights)),
             share(alarms, nights), 0.05, true, nights},
            {"2 % slowdown, σ 0.3 %, among 1000 cases: found in one night", share(found_2, slowed),
             0.95, false, slowed},
            {"1 % slowdown, σ 0.3 %, among 1000 cases: found in one night", share(found_1, slowed),
             0.80, false, slowed}};
}

std::vector<Check> one_percent_in_noise_of_one(std::uint64_t seed, std::size_t trials) {
    constexpr std::size_t before = 200, nights = 7;
    std::vector<char> hits(trials);
    in_parallel(trials, [&](std::size_t trial) {
        stats::Simulation random(seed * 0x9e3779b97f4a7c15ULL + 999'000 + trial);
        const gate::CompareOptions options{.reference_is_history = true};
        const std::vector<SimulatedCase> one = {{"gemm/bf16/m=1/etalon/cold", 100e3, 0.01}};
        std::vector<double> values;  // of the nights, as the history has them
        RunSet recent;
        for (std::size_t night = 0; night < before + nights && !hits[trial]; ++night) {
            const double effect = night < before ? 0 : std::log(1.01);
            double value = effect + one[0].sigma * random.normal();
            RunSet candidate;
            candidate.rows.push_back(row_of(one[0], night, value));
            bool found = false;
            if (night >= window) {
                const Comparison first = gate::compare(recent, candidate, options);
                if (!gate::suspects(first).empty()) {
                    RunSet again;
                    for (std::size_t repeat = 1; repeat <= 4; ++repeat) {
                        const double log_time = effect + one[0].sigma * random.normal();
                        again.rows.push_back(row_of(one[0], 1000 + repeat, log_time));
                        value += (log_time - value) / static_cast<double>(repeat + 1);
                    }
                    if (night >= before) {
                        const Comparison second = gate::compare(recent, again, options);
                        // The strictest that the correction over 300 suspects can be.
                        const double p = second.changes.at(0).p / 2;
                        found = flagged(second.changes[0], 300 * p, options);
                    }
                }
                recent.rows.erase(recent.rows.begin());
            }
            values.push_back(value);
            recent.rows.push_back(row_of(one[0], night, value));
            if (night < before + 1) continue;
            const history::Detection seen = history::detect(values);
            hits[trial] =
                found || std::any_of(seen.points.begin(), seen.points.end(),
                                     [&](const history::ChangePoint& point) {
                                         return point.ratio.value > 1 && point.at + 10 >= before;
                                     });
        }
    });
    const auto count = static_cast<double>(std::count(hits.begin(), hits.end(), 1));
    return {{"1 % slowdown, σ 1 %: found within 7 nights", count / static_cast<double>(trials),
             0.90, false, trials}};
}

}  // namespace etalon::accuracy
