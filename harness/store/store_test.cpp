#include "harness/store/store.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cmath>
#include <limits>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

class StoreTest : public testing::Test {
   protected:
    TemporaryFolder folder;
    const std::string path = folder.path("results.db");
};

TEST_F(StoreTest, MeasurementsComeBackWhole) {
    const Measurement given = measurement(0);
    {
        Store store = Store::open(path, Store::Mode::create);
        store.begin_run(environment(), run("run-a"), {case_id(0)});
        store.add("run-a", given);
    }
    const Store store = Store::open(path, Store::Mode::read);
    const auto rows = store.measurements("run-a");
    ASSERT_EQ(rows.size(), 1u);
    const MeasurementRow& row = rows[0];
    EXPECT_EQ(row.run_id, "run-a");
    EXPECT_EQ(row.started_at, "2026-12-01T17:04:05.123Z");
    EXPECT_EQ(row.suite, "nightly");
    EXPECT_EQ(row.gpu, "NVIDIA H200");
    EXPECT_EQ(row.driver, "580.159.04");
    EXPECT_EQ(row.cuda_runtime, "13.0");
    EXPECT_EQ(row.cublas, "13.1.0");
    EXPECT_EQ(row.cudnn, "9.14.0");
    EXPECT_EQ(row.environment_hash, environment().hash());
    EXPECT_EQ(row.revision, "1a2b3c4d5e6f");
    EXPECT_EQ(row.device, "cuda:0");
    EXPECT_EQ(row.floor_ns, 1250.5);
    EXPECT_EQ(row.quantum_ns, 32);
    EXPECT_EQ(row.case_id, case_id(0));
    EXPECT_EQ(row.sample_count, 64);
    const Measurement& m = row.m;
    EXPECT_EQ(m.key, given.key);
    EXPECT_EQ(m.status, Status::ok);
    EXPECT_EQ(m.reason, "");
    EXPECT_THAT(m.samples, IsEmpty());
    const auto same = [](const std::optional<Estimate>& a, const std::optional<Estimate>& b) {
        return a && b && a->value == b->value && a->lo == b->lo && a->hi == b->hi;
    };
    EXPECT_TRUE(same(m.time_ns, given.time_ns));
    EXPECT_TRUE(same(m.norm_time_ns, given.norm_time_ns));
    EXPECT_TRUE(same(m.elasticity, given.elasticity));
    EXPECT_EQ(m.clock_mhz, given.clock_mhz);
    EXPECT_EQ(m.flop, given.flop);
    EXPECT_EQ(m.bytes_min, given.bytes_min);
    EXPECT_EQ(m.conditions.power_w, given.conditions.power_w);
    EXPECT_EQ(m.conditions.temperature_c, given.conditions.temperature_c);
    EXPECT_EQ(m.conditions.reported_clock_mhz, given.conditions.reported_clock_mhz);
    EXPECT_EQ(m.conditions.memory_clock_mhz, given.conditions.memory_clock_mhz);
    EXPECT_EQ(m.conditions.event_reasons, given.conditions.event_reasons);
    EXPECT_EQ(m.conditions.other_processes, given.conditions.other_processes);
    EXPECT_EQ(m.conditions.ecc_errors, given.conditions.ecc_errors);
    EXPECT_EQ(m.method, given.method);
    EXPECT_EQ(m.stop_reason, given.stop_reason);
    EXPECT_EQ(m.modes, given.modes);
    EXPECT_EQ(m.description, given.description);
    EXPECT_EQ(m.distribution, given.distribution);
    EXPECT_EQ(m.seed, given.seed);
    EXPECT_EQ(m.error, given.error);
    EXPECT_EQ(m.wall_ms, given.wall_ms);
    EXPECT_EQ(m.measured_at, given.measured_at);

    const auto samples = store.samples("run-a", case_id(0));
    ASSERT_EQ(samples.size(), given.samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        EXPECT_EQ(samples[i].duration_ns, given.samples[i].duration_ns);
        EXPECT_EQ(samples[i].clock_mhz, given.samples[i].clock_mhz);
    }
}

TEST_F(StoreTest, EnvironmentAndRunComeBackWhole) {
    auto given = run("run-a");
    given.tag = "baseline";
    {
        Store store = Store::open(path, Store::Mode::create);
        store.begin_run(environment(), given, {});
        store.begin_run(environment(), run("run-b"), {});
    }
    const Store store = Store::open(path, Store::Mode::read);
    const auto back = store.run("run-a");
    given.environment_hash = environment().hash();
    EXPECT_EQ(content(back), content(given));
    EXPECT_EQ(back.tag, "baseline");
    EXPECT_EQ(back.state, RunState::running);
    EXPECT_EQ(back.finished_at, "");
    EXPECT_EQ(store.environment(back.environment_hash).hash(), environment().hash());
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)store.environment("beef"); }),
                HasSubstr("beef"));
}

TEST_F(StoreTest, UnknownsComeBackAsUnknown) {
    Measurement m;
    m.key = store::parse_stored_case("softmax/fp32/rows=1,cols=2/etalon+naive/hot");
    m.status = Status::unsupported;
    m.reason = "needs sm_90, this is sm_80; \"quoted\"";
    m.conditions.power_w = nan;  // the device cannot tell
    m.error = nan;
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    store.add("run-a", m);
    m.error = inf;
    store.add("run-a", m);
    const auto rows = store.measurements("run-a");
    ASSERT_EQ(rows.size(), 2u);
    const Measurement& back = rows[0].m;
    EXPECT_EQ(back.key, m.key);
    EXPECT_EQ(back.key.variant, "naive");
    EXPECT_EQ(back.key.l2, L2Mode::hot);
    EXPECT_EQ(back.status, Status::unsupported);
    EXPECT_EQ(back.reason, m.reason);
    EXPECT_EQ(rows[0].sample_count, 0);
    EXPECT_FALSE(back.time_ns || back.norm_time_ns || back.elasticity);
    EXPECT_FALSE(back.conditions.power_w || back.conditions.event_reasons);
    EXPECT_TRUE(std::isnan(back.error));
    EXPECT_EQ(rows[1].m.error, inf);
    EXPECT_THAT(store.samples("run-a", m.key.id()), IsEmpty());
    EXPECT_THAT(store.samples("run-a", case_id(7)), IsEmpty());
}

TEST_F(StoreTest, RefusesWhatIsNoMeasurement) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    const auto refused = [&](auto spoil) {
        Measurement m = measurement(0);
        spoil(m);
        EXPECT_THAT(error_of(ExitCode::usage, [&] { store.add("run-a", m); }),
                    HasSubstr(case_id(0)));
    };
    refused([](Measurement& m) { m.samples[3].duration_ns = nan; });
    refused([](Measurement& m) { m.samples[3].duration_ns = inf; });
    refused([](Measurement& m) { m.samples[3].duration_ns = -1; });
    refused([](Measurement& m) { m.samples[3].clock_mhz = nan; });
    refused([](Measurement& m) { m.samples[3].clock_mhz = -1; });
    refused([](Measurement& m) { m.time_ns->value = nan; });
    refused([](Measurement& m) { m.time_ns->lo = -1; });
    refused([](Measurement& m) { m.norm_time_ns->hi = inf; });
    refused([](Measurement& m) { m.elasticity->lo = nan; });
    refused([](Measurement& m) { m.clock_mhz = inf; });
    refused([](Measurement& m) { m.flop = nan; });
    refused([](Measurement& m) { m.bytes_min = -1; });
    refused([](Measurement& m) { m.wall_ms = nan; });
    (void)error_of(ExitCode::usage, [&] {
        store.add("run-a", Ratio{case_id(0), case_id(1), {1, nan, 2}});
    });
    EXPECT_THAT(store.measurements("run-a"), IsEmpty());
    EXPECT_THAT(store.ratios("run-a"), IsEmpty());
    Measurement negative_elasticity = measurement(0);
    negative_elasticity.elasticity = Estimate{-0.01, -0.05, 0.03};
    store.add("run-a", negative_elasticity);
    EXPECT_EQ(store.measurements("run-a").size(), 1u);
}

TEST_F(StoreTest, ARepeatIsANewRow) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {});
    Measurement m = measurement(0);
    store.add("run-a", m);
    m.samples = {{50000, 1500}};
    m.time_ns = Estimate{50000, 50000, 50000};
    store.add("run-a", m);
    const auto rows = store.measurements("run-a");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].m.time_ns->value, 27040);
    EXPECT_EQ(rows[1].m.time_ns->value, 50000);
    EXPECT_EQ(rows[0].repeat, 0);
    EXPECT_EQ(rows[1].repeat, 1);
    EXPECT_EQ(store.samples_of("run-a", case_id(0), 0).size(), 64u);
    EXPECT_EQ(store.samples_of("run-a", case_id(0), 1).size(), 1u);
    EXPECT_EQ(store.samples("run-a", case_id(0)).size(), 65u) << "of all repeats";
    store.add("run-a", Ratio{case_id(0), case_id(1), {1.5, 1.4, 1.6}});
    store.add("run-a", Ratio{case_id(0), case_id(1), {1.6, 1.5, 1.7}});
    EXPECT_EQ(store.ratios("run-a").size(), 2u);
}

TEST_F(StoreTest, PlanAndPendingKeepTheirOrder) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {case_id(2), case_id(0), case_id(1)});
    EXPECT_THAT(store.plan("run-a"), ElementsAre(case_id(2), case_id(0), case_id(1)));
    EXPECT_THAT(store.pending("run-a"), ElementsAre(case_id(2), case_id(0), case_id(1)));
    store.add("run-a", measurement(0));
    EXPECT_THAT(store.pending("run-a"), ElementsAre(case_id(2), case_id(1)));
    // Measurements stand as planned, in whatever order they were made.
    store.add("run-a", measurement(1));
    store.add("run-a", measurement(2));
    std::vector<std::string> order;
    for (const auto& row : store.measurements("run-a")) order.push_back(row.case_id);
    EXPECT_THAT(order, ElementsAre(case_id(2), case_id(0), case_id(1)));
    EXPECT_THAT(store.pending("run-a"), IsEmpty());
}

TEST_F(StoreTest, RunsLiveTheirLives) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-a"), {case_id(0)});
    EXPECT_THAT(error_of(ExitCode::usage,
                         [&] { store.begin_run(environment(), run("run-a"), {case_id(0)}); }),
                HasSubstr("already"));
    store.end_run("run-a", RunState::interrupted, "2026-12-01T18:00:00.000Z");
    EXPECT_EQ(store.run("run-a").state, RunState::interrupted);
    store.reopen_run("run-a");
    EXPECT_EQ(store.run("run-a").state, RunState::running);
    EXPECT_EQ(store.run("run-a").finished_at, "");
    store.reopen_run("run-a");  // one that was killed is still `running`
    store.end_run("run-a", RunState::finished, "2026-12-01T19:00:00.000Z");
    EXPECT_EQ(store.run("run-a").finished_at, "2026-12-01T19:00:00.000Z");
    EXPECT_THAT(error_of(ExitCode::usage, [&] { store.reopen_run("run-a"); }),
                HasSubstr("finished"));
    store.set_tag("run-a", "driver-580");
    EXPECT_EQ(store.run("run-a").tag, "driver-580");
    EXPECT_THAT(error_of(ExitCode::usage, [&] { store.add("run-x", measurement(0)); }),
                HasSubstr("run-x"));
}

TEST_F(StoreTest, RunsAreFoundByAUniquePrefix) {
    Store store = Store::open(path, Store::Mode::create);
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)store.run("a"); }), HasSubstr("no run"));
    for (const char* id : {"abc1", "abc2", "ab"}) store.begin_run(environment(), run(id), {});
    EXPECT_EQ(store.run("abc1").run_id, "abc1");
    EXPECT_EQ(store.run("ab").run_id, "ab") << "a whole id wins over longer ones";
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)store.run("abc"); }),
                HasSubstr("give more of it"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { (void)store.run("x"); }), HasSubstr("no run 'x'"));
}

TEST_F(StoreTest, SeriesGoesThroughRunsByTime) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment("590.10"), run("run-a", "2026-12-03T00:00:00.000Z"), {});
    store.begin_run(environment("580.95"), run("run-b", "2026-12-01T00:00:00.000Z"), {});
    for (const char* id : {"run-a", "run-b"}) {
        store.add(id, measurement(0));
        store.add(id, measurement(1));
    }
    const auto all = store.series(case_id(1));
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].run_id, "run-b");
    EXPECT_EQ(all[1].run_id, "run-a");
    EXPECT_EQ(all[1].driver, "590.10");
    const auto some = store.series(case_id(1), Selection::parse("driver=590"));
    ASSERT_EQ(some.size(), 1u);
    EXPECT_EQ(some[0].run_id, "run-a");
    EXPECT_THAT(store.series("nothing"), IsEmpty());
    EXPECT_THAT(store.case_ids(), ElementsAre(case_id(0), case_id(1)));
}

TEST_F(StoreTest, WallTimesAreTheLatestOfTheEnvironment) {
    Store store = Store::open(path, Store::Mode::create);
    store.begin_run(environment(), run("run-b", "2026-12-02T00:00:00.000Z"), {});
    store.begin_run(environment(), run("run-a", "2026-12-01T00:00:00.000Z"), {});
    store.begin_run(environment("590"), run("run-c", "2026-12-03T00:00:00.000Z"), {});
    const auto add = [&](const std::string& id, int i, double wall_ms) {
        // run-a is entered last and was made first, as after a merge.
        const std::string day = id == "run-a" ? "01" : id == "run-b" ? "02" : "03";
        Measurement m = measurement(
            i, fmt::format("2026-12-{}T00:00:{:02}.000Z", day, static_cast<int>(wall_ms)));
        m.wall_ms = wall_ms;
        store.add(id, m);
    };
    add("run-b", 0, 20);
    add("run-b", 0, 21);
    add("run-a", 0, 10);
    add("run-a", 1, 11);
    add("run-c", 0, 99);
    EXPECT_THAT(store.wall_ms(environment().hash()),
                ElementsAre(std::pair(case_id(0), 21.0), std::pair(case_id(1), 11.0)));
    EXPECT_THAT(store.wall_ms("none"), IsEmpty());
}

TEST_F(StoreTest, RatiosSayWhatTheyCompare) {
    make_store(path, 2);
    const auto rows = Store::open(path, Store::Mode::read).ratios("run-a");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].run_id, "run-a");
    EXPECT_EQ(rows[0].op, "gemm");
    EXPECT_EQ(rows[0].precision, "bf16");
    EXPECT_EQ(rows[0].axes, "m=1;n=64;k=14336");
    EXPECT_EQ(rows[0].ratio.baseline_case_id, case_id(1));
    EXPECT_EQ(rows[0].ratio.ratio.value, 1.25);
}

TEST_F(StoreTest, OneMayWriteWhileOthersRead) {
    Store writer = Store::open(path, Store::Mode::create);
    const Store reader = Store::open(path, Store::Mode::read);
    writer.begin_run(environment(), run("run-a"), {});
    for (int i = 0; i < 3; ++i) {
        writer.add("run-a", measurement(i));
        EXPECT_EQ(reader.measurements("run-a").size(), static_cast<std::size_t>(i + 1));
    }
    Store second = Store::open(path, Store::Mode::write);
    second.add("run-a", measurement(9));
    writer.add("run-a", measurement(10));
    EXPECT_EQ(reader.measurements("run-a").size(), 5u);
    EXPECT_THAT(reader.verify().problems, IsEmpty());
}

TEST_F(StoreTest, AReaderCannotWrite) {
    make_store(path, 1);
    Store reader = Store::open(path, Store::Mode::read);
    EXPECT_THAT(error_of(ExitCode::usage, [&] { reader.add("run-a", measurement(0)); }),
                HasSubstr("read-only"));
    (void)error_of(ExitCode::usage, [&] { (void)reader.merge(path); });
}

TEST_F(StoreTest, ReadingLeavesTheFolderAsItWas) {
    make_store(path, 3);
    EXPECT_THAT(folder.names(), ElementsAre("results.db"));
    const std::string before = read_file(path);
    (void)dump(path);
    EXPECT_THAT(Store::open(path, Store::Mode::read).verify().problems, IsEmpty());
    EXPECT_THAT(folder.names(), ElementsAre("results.db"));
    EXPECT_EQ(read_file(path), before);
}

TEST_F(StoreTest, OddNamesAreNames) {
    for (const char* name : {"a b.db", "a?b.db", "a#b.db", "a%20b.db", ":memory:", "é.db"}) {
        make_store(folder.path(name), 1);
        EXPECT_TRUE(std::filesystem::is_regular_file(folder.path(name))) << name;
        EXPECT_EQ(Store::open(folder.path(name), Store::Mode::read).runs().size(), 1u) << name;
    }
}

TEST_F(StoreTest, BackupIsAWholeCopy) {
    make_store(path, 5);
    const Store store = Store::open(path, Store::Mode::read);
    store.backup(folder.path("copy.db"));
    EXPECT_EQ(dump(folder.path("copy.db")), dump(path));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { store.backup(folder.path("copy.db")); }),
                HasSubstr("already"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { store.backup(folder.path("no/copy.db")); }),
                HasSubstr("no/copy.db"));
    EXPECT_THAT(folder.names(), testing::Not(testing::Contains(HasSubstr("copy.db-"))));
    Store reader = Store::open(path, Store::Mode::read);
    reader.backup(folder.path("copy2.db"));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { reader.set_tag("run-a", "x"); }),
                HasSubstr("read-only"))
        << "a reader stays one";
}

TEST_F(StoreTest, ASecondSweepIsRefused) {
    const auto first = std::make_unique<SweepLock>(path);
    std::filesystem::create_symlink("results.db", folder.path("link.db"));
    make_store(path, 1);
    const std::string line = error_of(ExitCode::usage, [&] { SweepLock second(path); });
    EXPECT_THAT(line, HasSubstr(std::to_string(getpid())));
    EXPECT_THAT(error_of(ExitCode::usage, [&] { SweepLock second(folder.path("link.db")); }),
                HasSubstr("another sweep"))
        << "one file has one lock, however it is named";
}

TEST_F(StoreTest, ALockEndsWithItsHolder) {
    {
        SweepLock first(path);
        SweepLock moved(std::move(first));
        (void)error_of(ExitCode::usage, [&] { SweepLock second(path); });
    }
    {
        const SweepLock again(path);
        EXPECT_TRUE(std::filesystem::exists(path + ".sweep-lock"));
    }
    EXPECT_FALSE(std::filesystem::exists(path + ".sweep-lock"));
}

TEST_F(StoreTest, DescriptionsAreTheLatestOkOnesUnderTheSameSoftware) {
    Store store = Store::open(path, Store::Mode::create);
    const auto add = [&](const std::string& id, const Environment& where, const std::string& at,
                         const std::string& description, Status status = Status::ok) {
        store.begin_run(where, run(id), {case_id(0)});
        Measurement m = measurement(0, at);
        m.description = description;
        m.status = status;
        m.reason = status == Status::ok ? "" : "planted";
        store.add(id, m);
    };
    Environment later = environment();
    later.os = "Debian 13";  // no part of what chooses
    add("second", later, "2026-12-03T00:00:00.000Z", "tile 2");
    add("first", environment(), "2026-12-02T00:00:00.000Z", "tile 1");
    add("third", environment(), "2026-12-04T00:00:00.000Z", "tile 3", Status::incorrect);
    add("other", environment("590.10"), "2026-12-05T00:00:00.000Z", "tile 4");
    using testing::Pair;
    using testing::UnorderedElementsAre;
    EXPECT_THAT(store.descriptions(environment()),
                UnorderedElementsAre(Pair(case_id(0), "tile 2")));
    EXPECT_THAT(store.descriptions(environment("590.10")),
                UnorderedElementsAre(Pair(case_id(0), "tile 4")));
    EXPECT_THAT(store.descriptions(environment("570.1")), IsEmpty());
}

}  // namespace
}  // namespace etalon
