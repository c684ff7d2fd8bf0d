#include "harness/bench_program/timed_case.h"

#include <gmock/gmock.h>

#include <cstring>

#include "bench/per_set.h"
#include "harness/bench_program/case_names.h"

namespace etalon::bench_program {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A copy that does what its name says: "never" is unsupported, "throws" and "tires" do so at the
// sixth launch (the check before takes three), "wrong" writes nothing.
class OddCopy final : public Provider {
   public:
    explicit OddCopy(std::string_view name) : name_(name) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        if (name_ == "never") return "it never does";
        return std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        return per_set(
            transfers(sets),
            [name = name_, launches = 0](const Transfer& t, Stream) mutable {
                const bool late = ++launches > 5;
                if (name == "throws" && late) throw device_error("it threw");
                if (name == "wrong" || (name == "tires" && late)) return;
                std::memcpy(t.to, t.from, t.bytes);
            },
            "{}");
    }

   private:
    std::string name_;
};

class Collected final : public benchmark::BenchmarkReporter {
   public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& reports) override {
        runs.insert(runs.end(), reports.begin(), reports.end());
    }
    std::vector<Run> runs;
};

class TimedCase : public ::testing::Test {
   protected:
    TimedCase() : device_(open_device("host")) {
        for (const char* name : {"never", "throws", "tires", "wrong", "good"}) {
            registry_.add(std::make_unique<OddCopy>(name));
        }
    }
    // What is reported for the copy by each of these providers, one after another.
    std::vector<benchmark::BenchmarkReporter::Run> report(
        const std::vector<std::string>& providers) {
        Session session(registry_, *device_);
        for (const std::string& provider : providers) {
            const Case key =
                registry_.parse_case("copy/fp32/n=1000/" + provider + "/hot", DeviceKind::host);
            benchmark::RegisterBenchmark(
                key.id().c_str(), [&, key](benchmark::State& state) { session.run(key, state); })
                ->UseManualTime()
                ->Iterations(10);
        }
        Collected collected;
        CaseNames names(collected, 0);
        benchmark::RunSpecifiedBenchmarks(&names);
        benchmark::ClearRegisteredBenchmarks();
        exit_ = session.exit();
        return collected.runs;
    }

    Registry registry_ = builtin_registry();
    std::unique_ptr<Device> device_;
    ExitCode exit_ = ExitCode::ok;
};

TEST_F(TimedCase, ReportsCountersUnderTheCaseId) {
    const auto runs = report({"good", "libc"});
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].benchmark_name(), "copy/fp32/n=1000/good/hot");
    EXPECT_EQ(runs[0].iterations, 10);
    const double seconds = runs[0].real_accumulated_time / 10;
    EXPECT_NEAR(runs[0].counters.at("GB/s") * seconds, 8000 / 1e9, 1e-12);
    EXPECT_GT(runs[0].counters.at("ratio"), 0);
    EXPECT_FALSE(runs[0].counters.contains("TFLOP/s"));
    EXPECT_FALSE(runs[1].counters.contains("ratio"));  // it is the baseline
    EXPECT_EQ(exit_, ExitCode::ok);
}

TEST_F(TimedCase, UnsupportedSaysWhyAndIsNoFailure) {
    const auto runs = report({"never"});
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_TRUE(runs[0].error_occurred);
    EXPECT_EQ(runs[0].error_message, "unsupported: it never does");
    EXPECT_EQ(exit_, ExitCode::ok);
}

TEST_F(TimedCase, WrongResultsAreErrorsBeforeAndAfter) {
    const auto runs = report({"wrong", "tires", "good"});
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_THAT(runs[0].error_message, StartsWith("incorrect before timing, output 'y'"));
    EXPECT_THAT(runs[1].error_message, StartsWith("incorrect after timing, output 'y'"));
    EXPECT_FALSE(runs[2].error_occurred);
    EXPECT_EQ(exit_, ExitCode::regression);
}

TEST_F(TimedCase, OneFailureIsOneCase) {
    const auto runs = report({"throws", "good"});
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].error_message, "it threw");
    EXPECT_FALSE(runs[1].error_occurred);
    EXPECT_EQ(exit_, ExitCode::device_failure);
}

}  // namespace
}  // namespace etalon::bench_program
