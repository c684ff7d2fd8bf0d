#include "harness/sweep/sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "baselines/common/fake_device.h"
#include "harness/device/host/host_device.h"
#include "harness/measure/planted_provider.h"
#include "harness/testing/scratch.h"

namespace etalon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The real host device and the real store, in a folder of its own.
class SweepTest : public ::testing::Test {
   protected:
    SweepTest()
        : device_(host::make_host_device()),
          registry_(builtin_registry()),
          store_(Store::open(folder_.path("etalon.db"), Store::Mode::create)) {
        options_.measure.precision = -1;
        options_.measure.min_samples = options_.measure.max_samples = 20;
    }

    // The case ids of op copy by these providers; `n` tells two problems apart.
    static std::string id(const std::string& provider, int n = 1024) {
        return fmt::format("copy/fp32/n={}/{}/hot", n, provider);
    }
    std::string begin(const std::vector<std::string>& ids) {
        std::vector<Case> cases;
        for (const std::string& each : ids) {
            cases.push_back(registry_.parse_case(each, DeviceKind::host));
        }
        return begin_sweep(*device_, store_, cases, options_);
    }
    SweepResult sweep(const std::string& run_id) {
        seen_.clear();
        return run_sweep(registry_, *device_, store_, run_id, options_, stop_,
                         [this](const SweepEvent& event) {
                             events_.push_back(event);
                             if (event.measurement != nullptr) seen_.push_back(*event.measurement);
                         });
    }
    std::map<std::string, Measurement> stored(const std::string& run_id) const {
        std::map<std::string, Measurement> rows;
        for (const MeasurementRow& row : store_.measurements(run_id)) rows[row.case_id] = row.m;
        return rows;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Device> device_;
    Registry registry_;
    Store store_;
    SweepOptions options_;
    std::atomic<bool> stop_ = false;
    std::vector<Measurement> seen_;  // of the last sweep
    std::vector<SweepEvent> events_;
};

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "nothing was thrown";
}

// Says which of two ways it took: the one it was told of, or else the one that is its turn.
class ChoosingProvider final : public Provider {
   public:
    explicit ChoosingProvider(const Provider& truth) : truth_(truth) {}
    [[nodiscard]] std::string_view name() const override { return "chooser"; }
    [[nodiscard]] std::string_view op() const override { return truth_.op(); }
    [[nodiscard]] DeviceKind device() const override { return truth_.device(); }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return prepare_like(fmt::format("way {}", ++choices_), key, device, sets);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare_like(
        std::string_view earlier, const Case& key, Device& device,
        std::span<const BufferSet> sets) const override {
        return std::make_unique<Kernel>(truth_.prepare(key, device, sets), earlier);
    }

   private:
    class Kernel final : public Prepared {
       public:
        Kernel(std::unique_ptr<Prepared> truth, std::string_view way)
            : truth_(std::move(truth)), way_(way) {}
        void launch(Stream stream, std::size_t set) override { truth_->launch(stream, set); }
        [[nodiscard]] std::string describe() const override { return way_; }

       private:
        std::unique_ptr<Prepared> truth_;
        std::string way_;
    };
    const Provider& truth_;
    mutable int choices_ = 0;
};

TEST_F(SweepTest, AProviderChoosesOnceForAllNightsUntilItIsToChooseAgain) {
    registry_.add(
        std::make_unique<ChoosingProvider>(registry_.provider("copy", "etalon", DeviceKind::host)));
    const auto way = [this] {
        const std::string run_id = begin({id("chooser")});
        EXPECT_EQ(sweep(run_id).ok, 1u);
        return stored(run_id).at(id("chooser")).description;
    };
    EXPECT_EQ(way(), "way 1");
    EXPECT_EQ(way(), "way 1");
    options_.choose_again = true;
    EXPECT_EQ(way(), "way 2");
    options_.choose_again = false;
    EXPECT_EQ(way(), "way 2");  // the latest
}

TEST_F(SweepTest, TellsWhereItsTimeWent) {
    const SweepResult result = sweep(begin({id("etalon"), id("libc")}));
    EXPECT_GT(result.prepare_s, 0);
    EXPECT_GT(result.check_s, 0);
    EXPECT_GT(result.time_s, 0);
    EXPECT_GT(result.store_s, 0);
    EXPECT_LE(result.prepare_s + result.check_s + result.time_s + result.store_s, result.wall_s);
    EXPECT_EQ(result.busy_s, 0);  // the host's timer does not see it
}

TEST_F(SweepTest, GoesOnPastEveryFaultAndStoresItsReason) {
    plant(registry_, "copy", "wrong", {.launched = [](const BufferSet& buffers, int) {
              scale_output(buffers, 1 + 0x1p-23);  // one unit in the last place: copy allows none
          }});
    plant(registry_, "copy", "turncoat", {.launched = [](const BufferSet& buffers, int launch) {
              if (launch > 3) scale_output(buffers, 2);
          }});
    plant(registry_, "copy", "thrower",
          {.launched = [](const BufferSet&, int) { throw std::runtime_error("planted throw"); }});
    plant(registry_, "copy", "glutton",
          {.preparing = [](Device& device) { (void)device.allocate(std::size_t{1} << 50U); }});
    plant(registry_, "copy", "refuser", {.unsupported = "planted refusal"});
    const std::string run = begin({id("wrong"), id("turncoat"), id("thrower"), id("glutton"),
                                   id("refuser"), id("libc"), id("etalon")});
    const SweepResult result = sweep(run);

    EXPECT_EQ(result.state, RunState::finished);
    EXPECT_EQ(result.left, 0u);
    EXPECT_EQ(result.incorrect, 2u);
    EXPECT_EQ(result.failed, 2u);
    EXPECT_EQ(result.unsupported, 1u);
    EXPECT_EQ(result.ok, 2u);
    EXPECT_EQ(store_.run(run).state, RunState::finished);
    std::map<std::string, Measurement> rows = stored(run);
    ASSERT_EQ(rows.size(), 7u);
    const auto expect = [&](const std::string& provider, Status status, const auto& reason) {
        EXPECT_EQ(rows[id(provider)].status, status) << provider;
        EXPECT_THAT(rows[id(provider)].reason, reason) << provider;
    };
    expect("wrong", Status::incorrect, StartsWith("before timing, output 'y'"));
    expect("turncoat", Status::incorrect, StartsWith("after timing, output 'y'"));
    expect("thrower", Status::failed, "planted throw");
    expect("glutton", Status::failed, HasSubstr("do not fit"));
    expect("refuser", Status::unsupported, "planted refusal");
    expect("libc", Status::ok, "");
    expect("etalon", Status::ok, "");
    // Only what is right has a ratio.
    ASSERT_EQ(store_.ratios(run).size(), 1u);
    EXPECT_EQ(store_.ratios(run)[0].ratio.case_id, id("etalon"));
    EXPECT_THAT(store_.verify().problems, IsEmpty());
}

TEST(SweepExitCode, TheGravestWins) {
    const auto code = [](std::size_t incorrect, std::size_t failed, std::size_t left) {
        return exit_code({.failed = failed, .incorrect = incorrect, .left = left});
    };
    EXPECT_EQ(code(1, 1, 1), ExitCode::regression);
    EXPECT_EQ(code(0, 1, 1), ExitCode::device_failure);
    EXPECT_EQ(code(0, 0, 1), ExitCode::undecided);
    EXPECT_EQ(code(0, 0, 0), ExitCode::ok);
    EXPECT_EQ(exit_code({.ok = 3, .unsupported = 2}), ExitCode::ok);
}

TEST_F(SweepTest, StoresEverySampleAndTheRatioOfItsMedians) {
    const std::string run = begin({id("etalon"), id("libc")});
    sweep(run);
    ASSERT_EQ(seen_.size(), 2u);
    for (const Measurement& m : seen_) {
        const std::vector<Sample> samples = store_.samples(run, m.key.id());
        ASSERT_EQ(samples.size(), 20u);
        ASSERT_EQ(m.samples.size(), 20u);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            EXPECT_NEAR(samples[i].duration_ns, m.samples[i].duration_ns, 0.001);
            EXPECT_NEAR(samples[i].clock_mhz, m.samples[i].clock_mhz, 0.01);
        }
    }
    const std::vector<RatioRow> ratios = store_.ratios(run);
    ASSERT_EQ(ratios.size(), 1u);
    EXPECT_EQ(ratios[0].ratio.case_id, id("etalon"));
    EXPECT_EQ(ratios[0].ratio.baseline_case_id, id("libc"));
    const double medians = seen_[1].norm_time_ns->value / seen_[0].norm_time_ns->value;
    EXPECT_NEAR(ratios[0].ratio.ratio.value, medians, 0.001 * medians);
    EXPECT_LE(ratios[0].ratio.ratio.lo, ratios[0].ratio.ratio.value);
    EXPECT_GE(ratios[0].ratio.ratio.hi, ratios[0].ratio.ratio.value);
}

TEST_F(SweepTest, TellsBeforeAndAfterEachCase) {
    sweep(begin({id("etalon"), id("libc")}));
    ASSERT_EQ(events_.size(), 3u);
    for (std::size_t i = 0; i < events_.size(); ++i) {
        EXPECT_EQ(events_[i].done, i);
        EXPECT_EQ(events_[i].total, 2u);
    }
    EXPECT_EQ(events_[0].next, id("etalon"));
    EXPECT_EQ(events_[1].next, id("libc"));
    EXPECT_EQ(events_[2].next, "");
    EXPECT_GT(events_[0].eta_s, 0);
    EXPECT_EQ(events_[2].eta_s, 0);
}

TEST_F(SweepTest, TellsOfACaseOnlyOnceAnyoneCanReadIt) {
    const std::string run = begin({id("etalon"), id("libc")});
    const Store reader = Store::open(folder_.path("etalon.db"), Store::Mode::read);
    const auto look = [&](const SweepEvent& event) {
        EXPECT_EQ(reader.measurements(run).size(), event.done);
    };
    EXPECT_EQ(run_sweep(registry_, *device_, store_, run, options_, stop_, look).ok, 2u);
    EXPECT_EQ(reader.measurements(run).size(), 2u);
}

TEST_F(SweepTest, ASpentBudgetLeavesARunThatCanBeResumed) {
    plant(registry_, "copy", "slow", {.preparing = [](Device&) {
              std::this_thread::sleep_for(std::chrono::milliseconds(600));
          }});
    const std::string run = begin({id("slow"), id("etalon", 2048), id("libc", 2048)});
    options_.budget_s = 0.5;
    const SweepResult result = sweep(run);
    EXPECT_EQ(result.state, RunState::interrupted);
    EXPECT_EQ(result.why_left, "budget spent");
    EXPECT_EQ(result.left, 3 - seen_.size());
    EXPECT_LE(seen_.size(), 1u);  // none only on a machine that stood still for half a second
    EXPECT_EQ(store_.run(run).state, RunState::interrupted);
    EXPECT_EQ(store_.pending(run).size(), result.left);
    EXPECT_EQ(find_unfinished(*device_, store_, "").run_id, run);

    options_.budget_s.reset();
    const SweepResult rest = sweep(run);
    EXPECT_EQ(rest.state, RunState::finished);
    EXPECT_EQ(rest.ok, 3u);  // of the whole run, not of this part
    EXPECT_EQ(seen_.size(), result.left);
    EXPECT_EQ(store_.measurements(run).size(), 3u);
    EXPECT_EQ(store_.ratios(run).size(), 1u);
}

TEST_F(SweepTest, AnInterruptFinishesTheCaseInFlightAndResumeMeasuresTheRest) {
    plant(registry_, "copy", "stopper", {.launched = [this](const BufferSet&, int launch) {
              if (launch == 10) stop_ = true;  // while it is timed
          }});
    std::vector<std::string> plan = {id("libc"), id("etalon"), id("stopper"), id("libc", 2048),
                                     id("etalon", 2048)};
    const std::string run = begin(plan);
    const SweepResult first = sweep(run);
    EXPECT_EQ(first.state, RunState::interrupted);
    EXPECT_EQ(first.why_left, "interrupted");
    EXPECT_EQ(first.ok, 3u);
    EXPECT_EQ(first.left, 2u);
    EXPECT_EQ(store_.samples(run, id("stopper")).size(), 20u);
    EXPECT_THAT(store_.pending(run), ElementsAre(plan[3], plan[4]));
    EXPECT_EQ(store_.ratios(run).size(), 2u);

    stop_ = false;
    store_.reopen_run(run);
    EXPECT_EQ(store_.run(run).state, RunState::running);
    const SweepResult rest = sweep(run);
    EXPECT_EQ(rest.state, RunState::finished);
    ASSERT_EQ(seen_.size(), 2u);
    EXPECT_EQ(seen_[0].key.id(), plan[3]);
    EXPECT_EQ(seen_[1].key.id(), plan[4]);
    EXPECT_EQ(stored(run).size(), plan.size());
    EXPECT_EQ(store_.measurements(run).size(), plan.size());  // none twice
    EXPECT_EQ(store_.ratios(run).size(), 3u);                 // none twice either
    sweep(run);                                               // nothing is pending
    EXPECT_THAT(seen_, IsEmpty());
    EXPECT_EQ(store_.measurements(run).size(), plan.size());
    EXPECT_EQ(store_.ratios(run).size(), 3u);
}

TEST_F(SweepTest, FindsTheUnfinishedRunAndRefusesAnyOther) {
    EXPECT_THAT(refusal([&] { (void)find_unfinished(*device_, store_, ""); }),
                HasSubstr("no unfinished run of host"));
    const std::string run = begin({id("libc")});  // as a killed sweep leaves it
    EXPECT_EQ(find_unfinished(*device_, store_, "").run_id, run);
    EXPECT_EQ(find_unfinished(*device_, store_, run.substr(0, 8)).run_id, run);
    sweep(run);
    EXPECT_THAT(refusal([&] { (void)find_unfinished(*device_, store_, run); }),
                HasSubstr("is finished"));
    EXPECT_THAT(refusal([&] { (void)find_unfinished(*device_, store_, "nosuch"); }),
                HasSubstr("nosuch"));
}

TEST_F(SweepTest, AResumeInAnotherEnvironmentIsRefused) {
    Environment then = describe_environment(*device_);
    then.os = "Debian 4.0 (etch)";
    etalon::Run run;  // testing::Test has a Run of its own
    run.run_id = make_run_id();
    run.started_at = "2026-01-01T00:00:00.000Z";
    run.device = "host";
    run.options = to_json(options_);
    run.environment_hash = then.hash();
    store_.begin_run(then, run, {id("libc")});
    EXPECT_THAT(refusal([&] { (void)find_unfinished(*device_, store_, ""); }),
                AllOf(HasSubstr("another environment"), HasSubstr("Debian 4.0 (etch)")));
}

TEST_F(SweepTest, AResumeOnAnotherDeviceIsRefused) {
    const std::string run = begin({id("libc")});
    FakeDevice gpu;
    EXPECT_THAT(refusal([&] { (void)find_unfinished(gpu, store_, run); }),
                HasSubstr("give --device host"));
    EXPECT_THAT(refusal([&] { (void)find_unfinished(gpu, store_, ""); }),
                HasSubstr("no unfinished run of cuda:0"));
}

TEST(SweepOptionsJson, AResumedRunGoesOnAsItBegan) {
    SweepOptions options;
    options.suite = "nightly";
    options.include = {"gemm/*"};
    options.exclude = {"re:cold$"};
    options.measure = {0.01, 7, 9, 123, 42};
    options.budget_s = 60;
    const SweepOptions read = options_from_json(to_json(options));
    EXPECT_EQ(read.suite, options.suite);
    EXPECT_EQ(read.include, options.include);
    EXPECT_EQ(read.exclude, options.exclude);
    EXPECT_EQ(read.measure.precision, 0.01);
    EXPECT_EQ(read.measure.min_samples, 7);
    EXPECT_EQ(read.measure.max_samples, 9);
    EXPECT_EQ(read.measure.case_budget_ms, 123);
    EXPECT_EQ(read.measure.seed, 42u);
    EXPECT_FALSE(read.budget_s);  // the budget is that of one sitting
    EXPECT_THAT(refusal([] { (void)options_from_json("{}"); }), HasSubstr("begin a new sweep"));
}

// A provider of the GPU whose question takes the device with it.
class DeviceKiller final : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "killer"; }
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&,
                                                         Device& device) const override {
        dynamic_cast<FakeDevice&>(device).usable_ = false;
        throw device_error("an illegal address");
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(const Case&, Device&,
                                                    std::span<const BufferSet>) const override {
        return nullptr;
    }
};

TEST_F(SweepTest, ALostDeviceStoresTheCaseAndLeavesTheRestToAFreshProcess) {
    FakeDevice gpu;
    registry_.add(std::make_unique<DeviceKiller>());
    const std::vector<Case> cases = {registry_.parse_case(id("killer"), DeviceKind::cuda),
                                     registry_.parse_case(id("killer", 2048), DeviceKind::cuda)};
    const std::string run = begin_sweep(gpu, store_, cases, options_);
    const SweepResult result =
        run_sweep(registry_, gpu, store_, run, options_, stop_, [](const SweepEvent&) {});
    EXPECT_TRUE(result.device_lost);
    EXPECT_EQ(result.why_left, "device lost");
    EXPECT_EQ(result.failed, 1u);
    EXPECT_EQ(result.left, 1u);
    EXPECT_EQ(stored(run)[id("killer")].reason, "an illegal address");
    EXPECT_EQ(find_unfinished(gpu, store_, "").run_id, run);
}

}  // namespace
}  // namespace etalon
