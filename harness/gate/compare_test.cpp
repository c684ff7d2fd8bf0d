#include "harness/gate/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/gate/simulated_runs.h"

namespace etalon::gate {
namespace {

using testing::HasSubstr;

const Change& only(const Comparison& comparison) {
    EXPECT_EQ(comparison.changes.size(), 1u);
    return comparison.changes.at(0);
}

CompareOptions history() {
    CompareOptions options;
    options.reference_is_history = true;
    return options;
}

struct QuietNight {
    int references;
    double run_sigma;
    bool keep_samples;
};

class NoChange : public testing::TestWithParam<QuietNight> {};

TEST_P(NoChange, RaisesHardlyAnyAlarm) {
    SimulatedMachine machine(21);
    auto cases = many_cases(40);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        cases[i].run_sigma = GetParam().run_sigma;
        cases[i].e = static_cast<double>(i % 11) / 10;
    }
    constexpr int nights = 40;
    int alarming_nights = 0, undecided_nights = 0;
    for (int night = 0; night < nights; ++night) {
        // Each night at another clock: that alone must not be a change.
        const SimulatedNight now{.clock_mhz = machine.random.uniform(1500, 1900),
                                 .keep_samples = GetParam().keep_samples};
        RunSet reference;
        for (int i = 0; i < GetParam().references; ++i) {
            machine.add(reference, cases,
                        {.clock_mhz = machine.random.uniform(1500, 1900),
                         .keep_samples = GetParam().keep_samples},
                        i);
        }
        const RunSet candidate = machine.nights(cases, now, 100, 1);
        const Comparison result = compare(reference, candidate, history());
        alarming_nights += result.count(Verdict::slower) + result.count(Verdict::faster) > 0;
        undecided_nights += result.count(Verdict::ambiguous) > 0;
        EXPECT_EQ(result.changes.size(), cases.size());
    }
    // At most one in twenty, the figure to reach; and chance.
    EXPECT_LE(alarming_nights, nights / 20);
    EXPECT_LE(undecided_nights, nights / 6);
}

INSTANTIATE_TEST_SUITE_P(Histories, NoChange,
                         testing::Values(QuietNight{1, 0.002, true}, QuietNight{1, 0.004, true},
                                         QuietNight{5, 0.004, true}, QuietNight{20, 0.002, false},
                                         QuietNight{20, 0.004, false},
                                         QuietNight{20, 0.006, false}));

TEST(Compare, FindsThreePercentAmongQuietCases) {
    SimulatedMachine machine(22);
    const auto cases = many_cases(40);
    int found = 0, others = 0;
    constexpr int nights = 40;
    for (int night = 0; night < nights; ++night) {
        const RunSet reference = machine.nights(cases, {.keep_samples = false}, 0, 5);
        RunSet candidate = machine.nights(cases, {.keep_samples = false}, 100, 1);
        candidate.rows[7] = machine.row(cases[7], {}, 100, 1.03);
        const Comparison result = compare(reference, candidate, history());
        for (const Change& change : result.changes) {
            if (change.case_id == candidate.rows[7].case_id) {
                found += change.verdict == Verdict::slower;
                EXPECT_NEAR(change.ratio->value, 1.03, 0.012);
            } else {
                others += change.verdict == Verdict::slower || change.verdict == Verdict::faster;
            }
        }
    }
    EXPECT_GE(found, nights * 0.95);
    EXPECT_LE(others, 3);
}

TEST(Compare, FindsTwoPercentInOneNightOfALongHistory) {
    SimulatedMachine machine(23);
    const auto cases = many_cases(40);
    int found = 0;
    constexpr int nights = 40;
    for (int night = 0; night < nights; ++night) {
        const RunSet reference = machine.nights(cases, {.keep_samples = false}, 0, 20);
        RunSet candidate = machine.nights(cases, {.keep_samples = false}, 100, 1);
        candidate.rows[3] = machine.row(cases[3], {}, 100, 0.98);
        const Comparison result = compare(reference, candidate, history());
        for (const Change& change : result.changes) {
            if (change.case_id == candidate.rows[3].case_id) {
                found += change.verdict == Verdict::faster;
            }
        }
    }
    EXPECT_GE(found, nights * 0.95);
}

TEST(Compare, IntervalCoversTheTruth) {
    SimulatedMachine machine(24);
    constexpr int trials = 400;
    int covered = 0;
    for (int trial = 0; trial < trials; ++trial) {
        const std::vector<SimulatedCase> one = {{.run_sigma = 0.004}};
        const RunSet reference = machine.nights(one, {.clock_mhz = 1600}, 0, 4);
        RunSet candidate = machine.nights(one, {.clock_mhz = 1800, .factor = 1.01}, 50, 2);
        const Change change = only(compare(reference, candidate));
        covered += change.ratio->lo <= 1.01 && 1.01 <= change.ratio->hi;
    }
    EXPECT_GE(covered, trials * 0.93);
}

class ClockShift : public testing::TestWithParam<double> {};

TEST_P(ClockShift, IsNoChange) {
    SimulatedMachine machine(25);
    const auto cases = many_cases(12, {.e = GetParam()});
    for (const bool keep_samples : {true, false}) {
        const RunSet reference =
            machine.nights(cases, {.clock_mhz = 1890, .keep_samples = keep_samples}, 0, 3);
        const RunSet candidate =
            machine.nights(cases, {.clock_mhz = 1480, .keep_samples = keep_samples}, 50, 1);
        const Comparison result = compare(reference, candidate, history());
        EXPECT_EQ(result.count(Verdict::slower) + result.count(Verdict::faster), 0);
        EXPECT_GE(result.count(Verdict::same), 10);
        // The raw times did move.
        if (GetParam() > 0.5) {
            EXPECT_GT(candidate.rows[0].m.time_ns->value / reference.rows[0].m.time_ns->value, 1.1);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(FromMemoryToCompute, ClockShift, testing::Values(0.0, 0.5, 1.0));

TEST(Compare, RefusesToMixMethods) {
    SimulatedMachine machine(26);
    const RunSet reference = machine.nights(many_cases(1), {.method = "events/1"}, 0, 5);
    const RunSet candidate = machine.nights(many_cases(1), {.method = "cupti/2"}, 50, 1);
    const Change change = only(compare(reference, candidate));
    EXPECT_EQ(change.verdict, Verdict::ambiguous);
    EXPECT_THAT(change.reason, HasSubstr("events/1"));
    EXPECT_THAT(change.reason, HasSubstr("cupti/2"));
    EXPECT_FALSE(change.ratio.has_value());

    RunSet mixed = reference;
    for (const auto& row : machine.nights(many_cases(1), {.method = "cupti/2"}, 20, 4).rows) {
        mixed.rows.push_back(row);
    }
    EXPECT_EQ(only(compare(mixed, candidate)).reference_runs, 4);
}

TEST(Compare, SaysNewMissingFailedIncorrectAndUnsupported) {
    SimulatedMachine machine(27);
    const auto cases = many_cases(6);
    const RunSet reference = machine.nights({cases[0], cases[1], cases[2], cases[3]}, {}, 0, 3);
    RunSet candidate =
        machine.nights({cases[1], cases[2], cases[3], cases[4], cases[5]}, {}, 50, 1);
    const auto set_status = [&](std::size_t index, Status status, const char* reason) {
        MeasurementRow& row = candidate.rows[index];
        row.m.status = status;
        row.m.reason = reason;
        row.m.norm_time_ns.reset();
    };
    set_status(0, Status::failed, "out of memory");
    set_status(1, Status::incorrect, "error 0.3 is over 0.01");
    set_status(2, Status::unsupported, "k is odd");
    set_status(4, Status::unsupported, "never was");
    const Comparison result = compare(reference, candidate, history());
    ASSERT_EQ(result.changes.size(), 5u);
    EXPECT_EQ(result.unsupported, 1);
    EXPECT_EQ(result.changes[0].verdict, Verdict::missing);
    EXPECT_EQ(result.changes[1].verdict, Verdict::failed);
    EXPECT_EQ(result.changes[1].reason, "out of memory");
    EXPECT_EQ(result.changes[2].verdict, Verdict::incorrect);
    EXPECT_EQ(result.changes[3].verdict, Verdict::missing);
    EXPECT_THAT(result.changes[3].reason, HasSubstr("k is odd"));
    EXPECT_EQ(result.changes[4].verdict, Verdict::new_case);
}

TEST(Compare, MissesOnlyWhatTheLatestReferenceRunHad) {
    SimulatedMachine machine(28);
    RunSet reference = machine.nights(many_cases(2), {}, 0, 3);
    machine.add(reference, many_cases(1), {}, 3);
    const RunSet candidate = machine.nights(many_cases(1), {}, 50, 1);
    EXPECT_EQ(compare(reference, candidate, history()).count(Verdict::missing), 0);
    EXPECT_EQ(compare(reference, candidate).count(Verdict::missing), 1);
}

TEST(Compare, CannotDecideOnTooFewSamples) {
    SimulatedMachine machine(29);
    const RunSet reference = machine.nights(many_cases(1), {}, 0, 3);
    const RunSet candidate = machine.nights(many_cases(1), {.samples = 3}, 50, 1);
    const Change change = only(compare(reference, candidate));
    EXPECT_EQ(change.verdict, Verdict::ambiguous);
    EXPECT_THAT(change.reason, HasSubstr("3 of at least 5"));
}

TEST(Compare, CannotDecideWhenTooNoisy) {
    SimulatedMachine machine(30);
    const auto cases = many_cases(1, {.run_sigma = 0.08});
    const RunSet reference = machine.nights(cases, {}, 0, 10);
    RunSet candidate = machine.nights(cases, {}, 50, 1);
    const Change change = only(compare(reference, candidate));
    EXPECT_EQ(change.verdict, Verdict::ambiguous);
    EXPECT_THAT(change.reason, HasSubstr("too noisy"));
}

TEST(Compare, NeverGoesUnderTheTimersResolution) {
    // 3 % of 2 µs is 60 ns; the empty window of 1250 ns wanders by more.
    SimulatedMachine machine(31);
    const auto cases = many_cases(1, {.time_ns = 2000, .run_sigma = 1e-4, .sample_sigma = 1e-4});
    const RunSet reference = machine.nights(cases, {}, 0, 20);
    const RunSet candidate = machine.nights(cases, {.factor = 1.03}, 50, 1);
    const Change change = only(compare(reference, candidate));
    EXPECT_EQ(change.verdict, Verdict::same);
    EXPECT_NEAR(change.least_effect, 0.1 * 1250 / 2000, 1e-3);
}

TEST(Compare, IsNotMovedByRowsThatCannotBe) {
    SimulatedMachine machine(32);
    RunSet reference = machine.nights(many_cases(1), {}, 0, 6);
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        MeasurementRow row = reference.rows[2];
        row.m.norm_time_ns->value = bad;
        reference.rows.push_back(row);
    }
    const RunSet candidate = machine.nights(many_cases(1), {.factor = 1.1}, 50, 1);
    const Change change = only(compare(reference, candidate));
    EXPECT_EQ(change.verdict, Verdict::slower);
    EXPECT_EQ(change.left_out, 4);
    EXPECT_EQ(change.reference_runs, 6);
}

// A series of one value a night, the last one the candidate.
Change of_series(const std::vector<double>& times, double clock = 0) {
    RunSet reference, candidate;
    for (std::size_t i = 0; i < times.size(); ++i) {
        MeasurementRow row;
        row.run_id = fmt::format("run{:04}", i);
        row.started_at = fmt::format("2026-01-01T{:02}:{:02}:00.000Z", i / 60, i % 60);
        row.case_id = "copy/fp32/bytes=1/etalon/cold";
        row.device = "cuda:0";
        row.sample_count = 20;
        row.m.method = "events/1";
        row.m.clock_mhz = clock;
        row.m.norm_time_ns = Estimate{times[i] * 1e3, times[i] * 1e3, times[i] * 1e3};
        (i + 1 < times.size() ? reference : candidate).rows.push_back(row);
    }
    return only(compare(reference, candidate, history()));
}

std::vector<double> repeated(std::initializer_list<std::pair<double, int>> levels) {
    std::vector<double> times;
    for (const auto& [value, count] : levels) {
        times.insert(times.end(), static_cast<std::size_t>(count), value);
    }
    return times;
}

TEST(Shapes, ThatHaveBrokenOthers) {
    EXPECT_EQ(of_series(repeated({{100, 20}})).verdict, Verdict::same);
    EXPECT_EQ(of_series(repeated({{100, 20}, {100.0001, 20}})).verdict, Verdict::same);
    EXPECT_EQ(of_series({100, 100}).verdict, Verdict::same);
    EXPECT_EQ(of_series(repeated({{78.8, 5}, {115, 1}})).verdict, Verdict::slower);
    EXPECT_EQ(of_series({1.00e3, 1.04e3, 1.08e3}).verdict, Verdict::slower);
    // A spike within the reference is an outlier ...
    EXPECT_EQ(of_series(repeated({{100, 10}, {150, 1}, {100, 10}})).verdict, Verdict::same);
    EXPECT_EQ(of_series(repeated({{11e3, 10}, {21364e3, 1}, {11e3, 10}})).verdict, Verdict::same);
    // ... and the second of two changes is an improvement on the level before it.
    const Change second = of_series(repeated({{10e3, 10}, {20e3, 10}, {15e3, 1}}));
    EXPECT_EQ(second.verdict, Verdict::faster);
    EXPECT_NEAR(second.ratio->value, 0.75, 1e-3);
    // Two levels by turns are noise, not news: neither is a change.
    std::vector<double> turns;
    for (int i = 0; i < 21; ++i) turns.push_back(i % 2 == 0 ? 26.7 : 27.6);
    EXPECT_NE(of_series(turns).verdict, Verdict::slower);
    EXPECT_NE(of_series(turns).verdict, Verdict::faster);
    // A change far under the stored unit is still relative.
    EXPECT_EQ(of_series(repeated({{0.030, 20}, {0.033, 1}})).verdict, Verdict::slower);
    EXPECT_EQ(of_series({100, 100, 150}).verdict, Verdict::slower);
}

TEST(Shapes, OrderOfRowsDoesNotMatter) {
    SimulatedMachine machine(33);
    RunSet reference = machine.nights(many_cases(3), {}, 0, 12);
    const RunSet candidate = machine.nights(many_cases(3), {.factor = 1.02}, 50, 1);
    const Comparison straight = compare(reference, candidate, history());
    std::reverse(reference.rows.begin(), reference.rows.end());
    const Comparison reversed = compare(reference, candidate, history());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(straight.changes[i].ratio->value, reversed.changes[i].ratio->value);
        EXPECT_EQ(straight.changes[i].p, reversed.changes[i].p);
    }
}

std::vector<SimulatedCase> with_vendor(int each) {
    auto cases = many_cases(each);
    for (const SimulatedCase& c : many_cases(each, {.provider = "cublaslt"})) cases.push_back(c);
    return cases;
}

TEST(CommonShift, OfTheVendorsCasesIsTheMachine) {
    SimulatedMachine machine(34);
    const auto cases = with_vendor(10);
    const RunSet reference = machine.nights(cases, {}, 0, 8);
    RunSet candidate = machine.nights(cases, {.factor = 1.04}, 50, 1);
    candidate.rows[0] = machine.row(cases[0], {}, 50, 1.3);
    const Comparison result = compare(reference, candidate, history());
    EXPECT_THAT(result.common_shift, HasSubstr("the machine changed"));
    EXPECT_EQ(result.count(Verdict::slower), 1);  // the one that moved far beyond the rest
    EXPECT_GE(result.count(Verdict::ambiguous), 15);
}

TEST(CommonShift, AfterANewDriverIsARegression) {
    SimulatedMachine machine(35);
    const auto cases = with_vendor(10);
    const RunSet reference = machine.nights(cases, {}, 0, 8);
    const RunSet candidate = machine.nights(cases, {.factor = 1.04, .driver = "590.10"}, 50, 1);
    const Comparison result = compare(reference, candidate, history());
    EXPECT_TRUE(result.common_shift.empty());
    EXPECT_GE(result.count(Verdict::slower), 15);
    ASSERT_EQ(result.environment.size(), 1u);
    EXPECT_EQ(result.environment[0].text(), "driver 580.95 -> 590.10");
}

TEST(CommonShift, OfOurOwnKernelsAloneIsARegression) {
    SimulatedMachine machine(36);
    const auto cases = with_vendor(10);
    const RunSet reference = machine.nights(cases, {}, 0, 8);
    RunSet candidate = machine.nights(cases, {}, 50, 1);
    for (std::size_t i = 0; i < 10; ++i) candidate.rows[i] = machine.row(cases[i], {}, 50, 1.04);
    const Comparison result = compare(reference, candidate, history());
    EXPECT_TRUE(result.common_shift.empty());
    EXPECT_GE(result.count(Verdict::slower), 9);
}

TEST(Compare, SaysWhenAnotherAlgorithmIsBehindAChange) {
    SimulatedMachine machine(31);
    const auto cases = many_cases(1);
    const auto note = [&](const char* then, const char* now) {
        RunSet reference = machine.nights(cases, {}, 0, 5);
        RunSet candidate = machine.nights(cases, {.factor = 1.05}, 100, 1);
        for (MeasurementRow& row : reference.rows) row.m.description = then;
        for (MeasurementRow& row : candidate.rows) row.m.description = now;
        const Comparison result = compare(reference, candidate, history());
        EXPECT_EQ(only(result).verdict, Verdict::slower);
        return only(result).reason;
    };
    constexpr const char* a = R"({"algorithm":{"tile":18},"gain_over_first":0.04})";
    EXPECT_THAT(note(a, R"({"algorithm":{"tile":21},"gain_over_first":0.04})"),
                HasSubstr("another algorithm"));
    EXPECT_EQ(note(a, R"({"algorithm":{"tile":18},"gain_over_first":0.01})"), "");
    EXPECT_EQ(note(a, ""), "") << "what is not known has not changed";
    EXPECT_EQ(note("no JSON", a), "");
}

}  // namespace
}  // namespace etalon::gate
