#include "harness/history/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "harness/history/simulated_nights.h"
#include "harness/testing/scratch.h"

namespace etalon::history {
namespace {

// Ten sizes of gemm and of softmax, by us and by a vendor.
std::vector<std::string> forty_cases() {
    std::vector<std::string> ids;
    for (const char* op : {"gemm", "softmax"}) {
        for (const char* provider : {"etalon", "cublaslt"}) {
            for (int i = 1; i <= 10; ++i) {
                ids.push_back(fmt::format("{}/bf16/m={}/{}/cold", op, i, provider));
            }
        }
    }
    return ids;
}

class Clusters : public testing::Test {
   protected:
    // 40 nights; from night 25 on the cases that `moves` names take `factor` times as long.
    const NightValues& nights(const std::function<bool(const std::string&)>& moves, double factor,
                              const std::string& new_driver = "580.95") {
        const auto ids = forty_cases();
        nights_.emplace(ids);
        for (int i = 0; i < 40; ++i) {
            nights_->add(SimulatedNights::environment(i < 25 ? "580.95" : new_driver), "aaaa",
                         [&](std::size_t c) {
                             const double level = 1e5 * (i >= 25 && moves(ids[c]) ? factor : 1.0);
                             return level * std::exp(0.002 * random_.normal());
                         });
        }
        return nights_->sorted();
    }

    stats::Simulation random_{fresh_seed()};
    std::optional<SimulatedNights> nights_;
};

TEST_F(Clusters, CasesThatMoveTogetherAreOneFindingNamedByWhatTheyShare) {
    const NightValues& values = nights(
        [](const std::string& id) {
            return id.starts_with("gemm") && id.find("/cublaslt/") != std::string::npos;
        },
        1.03, "590.10");
    const auto lines = lines_of(values);
    const auto clusters = clusters_of(lines);
    ASSERT_GE(clusters.size(), 1u);
    const Cluster& cluster = *std::max_element(
        clusters.begin(), clusters.end(),
        [](const Cluster& a, const Cluster& b) { return a.members.size() < b.members.size(); });
    EXPECT_EQ(cluster.members.size(), 10u);
    EXPECT_EQ(cluster.alike, 10u);
    EXPECT_EQ(cluster.run, 25u);
    EXPECT_TRUE(cluster.slower);
    EXPECT_EQ(cluster.name, "gemm cublaslt");  // all 40 are bf16, cold and of one size
    EXPECT_NEAR(cluster.ratio.value, 1.03, 0.003);
    ASSERT_EQ(cluster.causes.size(), 1u);
    EXPECT_EQ(cluster.causes[0].change.text(), "driver 580.95 -> 590.10");
    EXPECT_FALSE(cluster.machine);
}

TEST_F(Clusters, TheReferenceMovingTooIsTheMachineAndNotFortyAlerts) {
    const NightValues& values = nights([](const std::string&) { return true; }, 1.04);
    const auto clusters = clusters_of(lines_of(values));
    const Cluster& machine = *std::max_element(
        clusters.begin(), clusters.end(),
        [](const Cluster& a, const Cluster& b) { return a.members.size() < b.members.size(); });
    // One in twenty intervals may miss the night.
    EXPECT_GE(machine.members.size(), 36u);
    EXPECT_LE(clusters.size(), 3u);
    EXPECT_TRUE(machine.machine);
    EXPECT_EQ(machine.name, "");
}

TEST_F(Clusters, FasterAndSlowerAreApart) {
    const auto ids = forty_cases();
    nights_.emplace(ids);
    for (int i = 0; i < 40; ++i) {
        nights_->add(SimulatedNights::environment(), "aaaa", [&](std::size_t c) {
            const double factor = i < 25 ? 1 : c < 5 ? 1.05 : c < 10 ? 0.95 : 1;
            return 1e5 * factor * std::exp(0.002 * random_.normal());
        });
    }
    const NightValues& values = nights_->sorted();
    const auto clusters = clusters_of(lines_of(values));
    std::size_t slower = 0, faster = 0;
    for (const Cluster& cluster : clusters) {
        if (cluster.run == 25) (cluster.slower ? slower : faster) = cluster.members.size();
        EXPECT_FALSE(cluster.machine);
    }
    EXPECT_EQ(slower, 5u);
    EXPECT_EQ(faster, 5u);
}

TEST_F(Clusters, ASingleCaseIsNamedById) {
    const NightValues& values =
        nights([](const std::string& id) { return id == "gemm/bf16/m=3/etalon/cold"; }, 1.05);
    const auto clusters = clusters_of(lines_of(values));
    ASSERT_GE(clusters.size(), 1u);
    EXPECT_EQ(clusters[0].name, "gemm/bf16/m=3/etalon/cold");
}

TEST(SizeClass, HasFour) {
    EXPECT_EQ(size_class(3e3), "under 5 µs");
    EXPECT_EQ(size_class(5e3), "5 to 20 µs");
    EXPECT_EQ(size_class(199e3), "20 to 200 µs");
    EXPECT_EQ(size_class(1e6), "over 200 µs");
}

}  // namespace
}  // namespace etalon::history
