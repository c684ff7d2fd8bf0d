// Rounds on a device whose clock and elasticity are known.
#include "harness/measure/rounds.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "baselines/common/fake_device.h"
#include "harness/device/host/host_device.h"
#include "harness/measure/inputs.h"
#include "harness/testing/scratch.h"

namespace etalon {
namespace {

constexpr double rest_mhz = 1900, load_mhz = 1500, reference_mhz = 1782;

// A provider whose launches take this long at the reference clock; on the first set of buffers so
// many times as long.
class Timed final : public Provider {
   public:
    Timed(FakeDevice& device, std::vector<std::string>& log, std::string name, double time_ns,
          double first_set_factor)
        : device_(device),
          log_(log),
          name_(std::move(name)),
          time_ns_(time_ns),
          first_set_factor_(first_set_factor) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(const Case&, Device&,
                                                    std::span<const BufferSet>) const override {
        class Kernel final : public Prepared {
           public:
            explicit Kernel(const Timed& of) : of_(of) {}
            void launch(Stream stream, std::size_t set) override {
                if (of_.log_.empty() || of_.log_.back() != of_.name_) of_.log_.push_back(of_.name_);
                const double factor = set == 0 ? of_.first_set_factor_ : 1;
                of_.device_.taking(of_.time_ns_ * factor)(stream, set);
            }
            [[nodiscard]] std::string describe() const override { return "{}"; }

           private:
            const Timed& of_;
        };
        return std::make_unique<Kernel>(*this);
    }

   private:
    FakeDevice& device_;
    std::vector<std::string>& log_;
    std::string name_;
    double time_ns_, first_set_factor_;
};

class RoundsTest : public ::testing::Test {
   protected:
    RoundsTest() : seed_(fresh_seed()), random_(seed_) {
        options_.precision = 0.005;
        options_.case_budget_ms = 1e9;
        device_.timed_as = [this](double time_ns, bool heated) {
            const double clock = (heated ? load_mhz : rest_mhz) * (1 + 0.003 * normal_(random_));
            return Sample{time_ns * std::pow(reference_mhz / clock, elasticity_) *
                              (1 + noise_ * normal_(random_)),
                          clock};
        };
    }

    // Times a baseline of 100 µs beside a rival of `ours_ns`.
    void time(double ours_ns) {
        base_.emplace(device_, log_, "base", 100e3, 1);
        ours_.emplace(device_, log_, "ours", ours_ns, first_set_factor_);
        const Op& op = registry_.op("copy");
        const Problem& problem = inputs_.problem();
        Case base{problem, "base", "", L2Mode::cold}, ours{problem, "ours", "", L2Mode::cold};
        m_ = std::vector<Measurement>(2);
        m_[0].key = base;
        m_[1].key = ours;
        prepared_.emplace_back(op, *base_, base, device_, inputs_);
        prepared_.emplace_back(op, *ours_, ours, device_, inputs_);
        contestants_ = std::vector<Contestant>(2);
        for (std::size_t i = 0; i < 2; ++i) {
            contestants_[i].prepared = &prepared_[i];
            contestants_[i].m = &m_[i];
            contestants_[i].prior = {0.5, 0.25};
        }
        time_in_rounds(device_, contestants_, options_, reference_mhz);
    }

    std::uint64_t seed_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    double elasticity_ = 0.8, noise_ = 0.002, first_set_factor_ = 1;
    FakeDevice device_;
    Registry registry_ = builtin_registry();
    std::unique_ptr<Device> host_ = host::make_host_device();
    Inputs inputs_{registry_.op("copy"),
                   registry_.parse_case("copy/fp32/n=64/libc/cold", DeviceKind::host).problem,
                   *host_, 1};
    MeasureOptions options_;
    std::vector<std::string> log_;
    std::optional<Timed> base_, ours_;
    std::vector<Measurement> m_;
    std::vector<PreparedCase> prepared_;
    std::vector<Contestant> contestants_;
};

TEST_F(RoundsTest, ElasticityIsMeasuredAndTimesAreThoseOfTheReferenceClock) {
    time(80e3);
    EXPECT_GE(device_.heats, 1);
    for (const Measurement& m : m_) {
        EXPECT_NEAR(m.elasticity->value, elasticity_, 0.05) << "seed " << seed_;
        EXPECT_LT(m.elasticity->hi - m.elasticity->lo, 0.1);
        EXPECT_EQ(m.stop_reason, "precision");
        EXPECT_NEAR(m.clock_mhz, rest_mhz, 20) << "of the samples at rest";
    }
    EXPECT_NEAR(m_[0].norm_time_ns->value, 100e3, 500) << "seed " << seed_;
    EXPECT_NEAR(m_[1].norm_time_ns->value, 80e3, 400) << "seed " << seed_;
    EXPECT_NEAR(m_[0].time_ns->value, 100e3 * std::pow(reference_mhz / rest_mhz, elasticity_), 700)
        << "the raw time is that of the clock at rest, seed " << seed_;
}

TEST_F(RoundsTest, ARatioIsOfNeighbouringBlocks) {
    // A drift that both see is in neither's way: 20 % over the whole measurement.
    double drift = 1;
    const auto still = device_.timed_as;
    device_.timed_as = [&](double time_ns, bool heated) {
        drift *= 1.002;
        return still(time_ns * drift, heated);
    };
    options_.precision = -1;
    time(80e3);
    const Estimate ratio = paired_ratio(contestants_[0], contestants_[1], reference_mhz);
    EXPECT_NEAR(ratio.value, 1.25, 0.015) << "seed " << seed_;
    EXPECT_LE(ratio.lo, 1.25 + 0.01);
    EXPECT_GE(ratio.hi, 1.25 - 0.01);
}

TEST_F(RoundsTest, BlocksAlternateThereAndBack) {
    options_.max_samples = 30;
    options_.precision = -1;
    time(100e3);
    // Four passes: a case that ends one begins the next.
    ASSERT_EQ(contestants_[0].blocks.size(), 4u);
    ASSERT_EQ(contestants_[1].blocks.size(), 4u);
    EXPECT_EQ(m_[0].samples.size(), 30u);
    EXPECT_LE(log_.size(), 6u) << "there and back joins the two blocks in the middle";
    EXPECT_GE(log_.size(), 5u);
}

TEST_F(RoundsTest, TwoSpeedsAreStoredWithWhatTheyFollow) {
    first_set_factor_ = 1.05;
    options_.precision = -1;
    time(80e3);
    EXPECT_EQ(m_[0].modes, "");
    const auto told = nlohmann::json::parse(m_[1].modes);
    EXPECT_EQ(told.at("follows"), "buffer set") << m_[1].modes;
    EXPECT_NEAR(told.at("modes")[0].at("time_ns"), 80e3, 400) << "seed " << seed_;
    EXPECT_NEAR(told.at("modes")[1].at("time_ns"), 84e3, 400) << "seed " << seed_;
}

TEST_F(RoundsTest, TheIntervalCoversBothSpeedsWhereEitherMayBeTheMedian) {
    std::bernoulli_distribution slow(0.5);
    const auto steady = device_.timed_as;
    device_.timed_as = [&](double time_ns, bool heated) {
        return steady(time_ns * (slow(random_) ? 1.04 : 1), heated);
    };
    time(80e3);
    for (const Measurement& m : m_) {
        ASSERT_NE(m.modes, "") << "seed " << seed_;
        EXPECT_EQ(nlohmann::json::parse(m.modes).at("follows"), "");
        EXPECT_GT(m.norm_time_ns->hi / m.norm_time_ns->lo, 1.035) << "seed " << seed_;
    }
}

TEST_F(RoundsTest, NoSampleIsTakenPastTheLimits) {
    options_.min_samples = options_.max_samples = 3;
    time(100e3);
    EXPECT_EQ(m_[0].samples.size(), 3u);
    EXPECT_EQ(m_[0].stop_reason, "max-samples");
    EXPECT_EQ(device_.heats, 0);
}

TEST_F(RoundsTest, ASampleThatCannotBeIsTheFaultOfItsCase) {
    device_.timed_as = [](double, bool) { return Sample{std::nan(""), 1000}; };
    try {
        time(100e3);
        FAIL() << "nothing was thrown";
    } catch (const TimingFault& fault) {
        EXPECT_EQ(fault.who(), 0u);
        EXPECT_THAT(fault.what(), ::testing::HasSubstr("the timer cannot be right"));
    }
}

}  // namespace
}  // namespace etalon
