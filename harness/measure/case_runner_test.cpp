#include "harness/measure/case_runner.h"

#include <gmock/gmock.h>

#include <cmath>
#include <stdexcept>

#include "harness/device/host/host_device.h"
#include "harness/measure/inputs.h"
#include "harness/measure/planted_provider.h"

namespace etalon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int sets = 3;  // of a small problem: a check launches each once

class CaseRunnerTest : public ::testing::Test {
   protected:
    CaseRunnerTest() : device_(host::make_host_device()), registry_(builtin_registry()) {
        options_.precision = -1;  // no interval is that narrow: the number of samples is known
        options_.min_samples = 5;
        options_.max_samples = 12;
        options_.case_budget_ms = 1e9;
    }

    [[nodiscard]] Case softmax(const std::string& provider) const {
        return registry_.parse_case("softmax/fp32/rows=8,cols=64/" + provider + "/hot",
                                    DeviceKind::host);
    }
    [[nodiscard]] Measurement measure(const std::string& provider) {
        return CaseRunner(registry_, *device_, options_).run(softmax(provider));
    }
    [[nodiscard]] Measurement measure_planted(Plant how) {
        plant(registry_, "softmax", "planted", std::move(how));
        return measure("planted");
    }

    std::unique_ptr<Device> device_;
    Registry registry_;
    MeasureOptions options_;
};

void expect_no_time(const Measurement& m) {
    EXPECT_FALSE(m.time_ns);
    EXPECT_FALSE(m.norm_time_ns);
    EXPECT_FALSE(m.elasticity);
}

TEST_F(CaseRunnerTest, ARightKernelGetsATimeAndItsConditions) {
    const Measurement m = measure("etalon");
    EXPECT_EQ(m.status, Status::ok) << m.reason;
    EXPECT_EQ(m.reason, "");
    EXPECT_EQ(m.samples.size(), 12u);
    EXPECT_EQ(m.stop_reason, "max-samples");
    ASSERT_TRUE(m.time_ns && m.norm_time_ns);
    EXPECT_LE(m.time_ns->lo, m.time_ns->value);
    EXPECT_LE(m.time_ns->value, m.time_ns->hi);
    EXPECT_EQ(m.flop, 5 * 8 * 64);
    EXPECT_EQ(m.bytes_min, 2 * 8 * 64 * 4);
    EXPECT_THAT(m.method, StartsWith("steady_clock/"));
    EXPECT_GT(m.wall_ms, 0);
    EXPECT_EQ(m.seed, options_.seed);
}

TEST_F(CaseRunnerTest, EndsByTheRuleItNames) {
    options_.precision = 1e9;
    const Measurement narrow = measure("etalon");
    EXPECT_EQ(narrow.stop_reason, "precision");
    EXPECT_EQ(narrow.samples.size(), 5u);
    options_.precision = -1;
    options_.case_budget_ms = 0;
    const Measurement spent = measure("etalon");
    EXPECT_EQ(spent.stop_reason, "budget");
    EXPECT_EQ(spent.samples.size(), 5u);
}

TEST_F(CaseRunnerTest, TheToleranceDecidesWhatIsWrong) {
    const double allowed = registry_.op("softmax").tolerance(softmax("etalon").problem).relative;
    const auto off_by = [](double error) {
        return Plant{.launched = [error](const BufferSet& buffers, int) {
            scale_output(buffers, 1 + error);
        }};
    };
    plant(registry_, "softmax", "near", off_by(allowed / 4));
    plant(registry_, "softmax", "off", off_by(allowed * 4));
    EXPECT_EQ(measure("near").status, Status::ok);
    const Measurement off = measure("off");
    EXPECT_EQ(off.status, Status::incorrect);
    EXPECT_THAT(off.reason, StartsWith("before timing, output 'y': relative error"));
    EXPECT_GT(off.error, allowed);
    EXPECT_TRUE(off.samples.empty());  // what is wrong is not timed
    expect_no_time(off);
}

TEST_F(CaseRunnerTest, OneElementThatIsFarOffIsWrong) {
    const Measurement m = measure_planted({.launched = [](const BufferSet& buffers, int) {
        elements(buffers.back())[77] *= 1.001F;
    }});
    EXPECT_EQ(m.status, Status::incorrect);
}

TEST_F(CaseRunnerTest, OutputsThatAreNotWrittenAreWrong) {
    const Measurement m = measure_planted({.launched = [](const BufferSet& buffers, int) {
        elements(buffers.back())[3] = std::nanf("");  // the poison
    }});
    EXPECT_EQ(m.status, Status::incorrect);
    EXPECT_THAT(m.reason, HasSubstr("1 elements are not finite or were not written"));
}

TEST_F(CaseRunnerTest, EverySetIsChecked) {
    const Measurement m = measure_planted({.launched = [](const BufferSet& buffers, int launch) {
        if (launch == sets) scale_output(buffers, 2);
    }});
    EXPECT_EQ(m.status, Status::incorrect);
    EXPECT_THAT(m.reason, StartsWith("before timing"));
}

TEST_F(CaseRunnerTest, WrongAfterTimingIsWrong) {
    const Measurement m = measure_planted({.launched = [](const BufferSet& buffers, int launch) {
        if (launch > sets) scale_output(buffers, 2);
    }});
    EXPECT_EQ(m.status, Status::incorrect);
    EXPECT_THAT(m.reason, StartsWith("after timing"));
    EXPECT_EQ(m.samples.size(), 12u);  // kept, but they say nothing of how fast it is
    expect_no_time(m);
}

TEST_F(CaseRunnerTest, WhatIsThrownIsTheReasonInOneLine) {
    const Measurement ours = measure_planted({.launched = [](const BufferSet&, int launch) {
        if (launch > sets) throw device_error("the launch was refused");
    }});
    EXPECT_EQ(ours.status, Status::failed);
    EXPECT_EQ(ours.reason, "the launch was refused");
    expect_no_time(ours);
    plant(registry_, "softmax", "theirs",
          {.preparing = [](Device&) { throw std::runtime_error("no\nhandle"); }});
    const Measurement theirs = measure("theirs");
    EXPECT_EQ(theirs.status, Status::failed);
    EXPECT_EQ(theirs.reason, "no handle");
}

TEST_F(CaseRunnerTest, NoMemoryIsAFailureThatSaysHowMuch) {
    const Measurement workspace = measure_planted(
        {.preparing = [](Device& device) { (void)device.allocate(std::size_t{1} << 50U); }});
    EXPECT_EQ(workspace.status, Status::failed);
    EXPECT_THAT(workspace.reason, HasSubstr("do not fit"));
    const Measurement tensors =
        CaseRunner(registry_, *device_, options_)
            .run(registry_.parse_case("softmax/fp32/rows=1073741824,cols=16777216/etalon/hot",
                                      DeviceKind::host));
    EXPECT_EQ(tensors.status, Status::failed);
    EXPECT_THAT(tensors.reason, HasSubstr("choose smaller axes"));
}

TEST_F(CaseRunnerTest, UnsupportedKeepsItsReason) {
    const Measurement told = measure_planted({.unsupported = "only on Sundays"});
    EXPECT_EQ(told.status, Status::unsupported);
    EXPECT_EQ(told.reason, "only on Sundays");
    plant(registry_, "softmax", "tried",
          {.preparing = [](Device&) { throw Unsupported("no algorithm takes it"); }});
    const Measurement tried = measure("tried");
    EXPECT_EQ(tried.status, Status::unsupported);
    EXPECT_EQ(tried.reason, "no algorithm takes it");
}

TEST_F(CaseRunnerTest, AKernelThatSpoilsItsInputsSpoilsNoOtherCase) {
    plant(registry_, "softmax", "scribbler",
          {.launched = [](const BufferSet& buffers, int) { elements(buffers.front())[0] += 1; }});
    CaseRunner runner(registry_, *device_, options_);
    EXPECT_EQ(runner.run(softmax("etalon")).status, Status::ok);
    EXPECT_EQ(runner.run(softmax("scribbler")).status, Status::incorrect);
    const Measurement next = runner.run(softmax("etalon"));
    EXPECT_EQ(next.status, Status::ok) << next.reason;
}

TEST_F(CaseRunnerTest, KeepsTheTensorsOfAProblemForItsNextCase) {
    CaseRunner runner(registry_, *device_, options_);
    const void* tensor = runner.inputs(softmax("etalon").problem).sets().front().front().data();
    EXPECT_EQ(runner.run(softmax("onednn")).status, Status::ok);
    EXPECT_EQ(runner.inputs(softmax("etalon").problem).sets().front().front().data(), tensor);
}

}  // namespace
}  // namespace etalon
