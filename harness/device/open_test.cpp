#include <gmock/gmock.h>

#include "harness/device/device.h"

namespace etalon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of(const std::string& name) {
    try {
        (void)open_device(name);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(OpenDevice, UnknownNamesGetTheNearest) {
    EXPECT_THAT(message_of("hots"), HasSubstr("did you mean 'host'"));
    EXPECT_THAT(message_of("cuda:x"), HasSubstr("cuda:0"));
    EXPECT_THAT(message_of("cuda:-1"), HasSubstr("unknown device"));
}

TEST(OpenDevice, WithoutAGpuOneLineNamesTheMend) {
    if (list_devices().front().usable) GTEST_SKIP() << "this machine has a GPU";
    EXPECT_THAT(message_of("cuda:0"), AllOf(HasSubstr("--device host"), Not(HasSubstr("\n"))));
    EXPECT_EQ(open_device("auto")->info().kind, DeviceKind::host);
}

TEST(ListDevices, TheHostIsAlwaysThere) {
    EXPECT_EQ(list_devices().back().id, "host");
    EXPECT_TRUE(list_devices().back().usable);
}

TEST(ExamineMachine, EveryFindingSaysWhatItIs) {
    const std::vector<Finding> findings = examine_machine();
    EXPECT_GE(findings.size(), 5U);
    for (const Finding& finding : findings) {
        EXPECT_FALSE(finding.subject.empty());
        EXPECT_FALSE(finding.value.empty()) << finding.subject;
    }
}

}  // namespace
}  // namespace etalon
