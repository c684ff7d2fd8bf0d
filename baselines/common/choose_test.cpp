#include "baselines/common/choose.h"

#include <gmock/gmock.h>

#include "baselines/common/fake_device.h"

namespace etalon {
namespace {

Choice fastest(FakeDevice& device, const std::vector<Launch>& candidates) {
    return choose_fastest(device, L2Mode::cold, 2, candidates);
}

TEST(ChooseFastest, LeavesTheFirstOnlyForMoreThanTwoPercent) {
    FakeDevice device;
    EXPECT_EQ(fastest(device, {device.taking(1000), device.taking(985)}).index, 0U);
    const Choice choice =
        fastest(device, {device.taking(1000), device.taking(985), device.taking(970)});
    EXPECT_EQ(choice.index, 2U);
    EXPECT_EQ(choice.first, 0U);
    EXPECT_NEAR(choice.gain, 1000.0 / 970 - 1, 1e-9);
}

TEST(ChooseFastest, KeepsTheFirstWhenItIsTheFastest) {
    FakeDevice device;
    const Choice choice = fastest(device, {device.taking(900), device.taking(1000)});
    EXPECT_EQ(choice.index, 0U);
    EXPECT_EQ(choice.gain, 0);
}

// A candidate that was lucky in the first look loses in the second.
TEST(ChooseFastest, ASecondLookUndoesLuck) {
    FakeDevice device;
    int calls = 0;
    const Launch slow = device.taking(1100), quick = device.taking(800);
    const Launch lucky = [&](Stream stream, std::size_t set) {
        (++calls <= 8 ? quick : slow)(stream, set);  // trial, glance, 1 warm-up, 5 samples
    };
    const Choice choice = fastest(device, {device.taking(1000), lucky});
    EXPECT_EQ(choice.index, 0U);
    EXPECT_LT(choice.gain, 0);
}

TEST(ChooseFastest, LooksOnceAtWhatIsHopeless) {
    FakeDevice device;
    (void)fastest(device, {device.taking(1000)});
    const int alone = device.launches;
    EXPECT_EQ(fastest(device, {device.taking(1000), device.taking(1e9)}).index, 0U);
    EXPECT_EQ(device.launches, alone + alone + 2);  // trial and glance
}

TEST(ChooseFastest, DropsWhatIsRefused) {
    FakeDevice device;
    const Choice choice = fastest(device, {device.refused("no"), device.taking(1000),
                                           device.refused("no"), device.taking(500)});
    EXPECT_EQ(choice.first, 1U);
    EXPECT_EQ(choice.index, 3U);
    EXPECT_EQ(choice.refused, 2U);
}

TEST(ChooseFastest, SaysWhyWhenAllAreRefused) {
    FakeDevice device;
    try {
        (void)fastest(device, {device.refused("first reason"), device.refused("last reason")});
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "last reason");
    }
}

TEST(ChooseFastest, StopsAtOnceWhenTheDeviceIsLost) {
    FakeDevice device;
    const std::vector<Launch> candidates = {device.refused("gone", true), device.taking(1)};
    EXPECT_THROW((void)fastest(device, candidates), Error);
    EXPECT_EQ(device.launches, 1);
}

TEST(ChooseFirst, TriesInOrderAndTimesNothing) {
    FakeDevice device;
    const std::vector<Launch> candidates = {device.refused("no"), device.taking(1000),
                                            device.taking(1)};
    const Choice choice = choose_first(device, candidates);
    EXPECT_EQ(choice.index, 1U);
    EXPECT_EQ(choice.refused, 1U);
    EXPECT_EQ(device.launches, 2);
}

TEST(CanLaunch, IsFalseForARefusalAndThrowsWhenTheDeviceIsLost) {
    FakeDevice device;
    EXPECT_TRUE(can_launch(device, device.taking(1000)));
    EXPECT_EQ(device.launches, 1);
    EXPECT_FALSE(can_launch(device, device.refused("no such plan")));
    EXPECT_THROW((void)can_launch(device, device.refused("illegal address", /*fatal=*/true)),
                 Error);
}

}  // namespace
}  // namespace etalon
