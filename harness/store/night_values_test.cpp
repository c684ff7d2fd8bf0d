#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "harness/store/test_support.h"

namespace etalon::store_test {
namespace {

class NightValuesOf : public testing::Test {
   protected:
    NightValuesOf() : store_(Store::open(folder_.path("results.db"), Store::Mode::create)) {
        // Stored out of order: the later night first.
        add("b-run", "2026-12-02T02:00:00.000Z", 2);
        add("a-run", "2026-12-01T02:00:00.000Z", 3);
    }

    void add(const std::string& id, const std::string& started_at, int cases) {
        const Environment e = environment();
        etalon::Run r = store_test::run(id, started_at);
        r.environment_hash = e.hash();
        store_.begin_run(e, r, {});
        for (int i = 0; i < cases; ++i) store_.add(id, measurement(i));
        Measurement bad = measurement(0);
        bad.status = Status::failed;
        bad.time_ns = bad.norm_time_ns = bad.elasticity = std::nullopt;
        store_.add(id, bad);
    }

    TemporaryFolder folder_;
    Store store_;
};

TEST_F(NightValuesOf, AllCasesComeByCaseThenNight) {
    const NightValues all = store_.night_values();
    ASSERT_EQ(all.runs.size(), 2u);
    EXPECT_EQ(all.runs[0].run_id, "a-run");
    EXPECT_EQ(all.case_ids.size(), 3u);
    ASSERT_EQ(all.values.size(), 7u);
    EXPECT_TRUE(std::is_sorted(all.values.begin(), all.values.end(), [](auto& a, auto& b) {
        return std::pair(a.case_index, a.run) < std::pair(b.case_index, b.run);
    }));
    EXPECT_EQ(all.environments.size(), 1u);
    int failed = 0;
    for (const NightValue& value : all.values) {
        failed += value.status == Status::failed;
        EXPECT_EQ(std::isnan(value.norm_time_ns), value.status == Status::failed);
        if (value.status == Status::ok) {
            EXPECT_EQ(all.methods[value.method], measurement(0).method);
            EXPECT_EQ(value.norm_time_ns, measurement(0).norm_time_ns->value);
        }
    }
    EXPECT_EQ(failed, 2);
}

TEST_F(NightValuesOf, AFewCasesAreThoseOfAll) {
    const NightValues two = store_.night_values({}, {case_id(2), case_id(0)});
    EXPECT_EQ(two.case_ids, (std::vector<std::string>{case_id(2), case_id(0)}));
    EXPECT_EQ(two.values.size(), 5u);
    EXPECT_EQ(store_.night_values({}, {"gemm/bf16/m=9/nobody/cold"}).values.size(), 0u);
    Selection later;
    later.since = "2026-12-02";
    const NightValues one = store_.night_values(later, {case_id(0)});
    EXPECT_EQ(one.runs.size(), 1u);
    EXPECT_EQ(one.values.size(), 2u);
}

}  // namespace
}  // namespace etalon::store_test
