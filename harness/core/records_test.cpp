#include "harness/core/records.h"

#include <gtest/gtest.h>

#include <set>

namespace etalon {
namespace {

TEST(Environment, HashDependsOnEveryField) {
    const Environment base;
    std::set<std::string> hashes = {base.hash()};
    const auto changed = [&](auto change) {
        Environment other = base;
        change(other);
        EXPECT_EQ(other.hash().size(), 32u);
        EXPECT_TRUE(hashes.insert(other.hash()).second);
    };
    changed([](Environment& e) { e.device_kind = "cuda"; });
    changed([](Environment& e) { e.gpu = "NVIDIA H200"; });
    changed([](Environment& e) { e.sm_count = 132; });
    changed([](Environment& e) { e.memory_bytes = 1; });
    changed([](Environment& e) { e.vbios = "96"; });
    changed([](Environment& e) { e.driver = "580.159.04"; });
    changed([](Environment& e) { e.cuda_runtime = "13.0"; });
    changed([](Environment& e) { e.cublas = "13.1.0"; });
    changed([](Environment& e) { e.cudnn = "9.14.0"; });
    changed([](Environment& e) { e.power_limit_w = 700; });
    changed([](Environment& e) { e.ecc = "on"; });
    changed([](Environment& e) { e.mig = "off"; });
    changed([](Environment& e) { e.host_cpu = "x"; });
    changed([](Environment& e) { e.os = "x"; });
    changed([](Environment& e) { e.etalon_version = "1"; });
    changed([](Environment& e) { e.method = 99; });
    changed([](Environment& e) { e.reference_clock_mhz = 1980; });
    changed([](Environment& e) { e.extra["onednn"] = "3.2"; });
    EXPECT_EQ(base.hash(), Environment{}.hash());
}

TEST(Run, IdsAreUniqueAndSortByTime) {
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) {
        const std::string id = make_run_id();
        EXPECT_EQ(id.size(), 32u);
        EXPECT_TRUE(ids.insert(id).second);
    }
}

TEST(Status, NamesRoundTrip) {
    for (const Status status :
         {Status::ok, Status::unsupported, Status::failed, Status::incorrect}) {
        EXPECT_EQ(parse_status(name(status)), status);
    }
}

}  // namespace
}  // namespace etalon
