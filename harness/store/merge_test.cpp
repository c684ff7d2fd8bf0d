#include <gmock/gmock.h>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::HasSubstr;

// Two shards of one run that share case 1, and a run of its own in each.
class Merge : public testing::Test {
   protected:
    Merge() {
        for (const auto& [name, cases] : shards_) {
            Store store = Store::open(folder.path(name), Store::Mode::create);
            store.begin_run(environment(), run("shared"), {case_id(2), case_id(1), case_id(0)});
            for (const int i : cases) store.add("shared", measurement(i));
            for (const int i : cases) {
                store.add("shared", Ratio{case_id(i), case_id(9), {1.0 + i, 0.9 + i, 1.1 + i}});
            }
            const std::string own = std::string("own-") + name;
            store.begin_run(environment("590." + std::to_string(cases[0])),
                            run(own, "2026-12-02T00:00:00.000Z"), {case_id(5)});
            store.add(own, measurement(5));
            store.add(own, measurement(5));
            store.end_run(own, RunState::finished, "2026-12-02T01:00:00.000Z");
        }
    }
    MergeReport merge(const std::string& into, const std::string& from) {
        return Store::open(folder.path(into), Store::Mode::create).merge(folder.path(from));
    }
    std::string dump(const std::string& name) { return store_test::dump(folder.path(name)); }

    TemporaryFolder folder;

   private:
    const std::vector<std::pair<const char*, std::vector<int>>> shards_ = {
        {"a", {0, 1}}, {"b", {1, 2}}, {"c", {2, 0}}};
};

TEST_F(Merge, IsAUnion) {
    const MergeReport report = merge("a", "b");
    EXPECT_EQ(report.runs_added, 1);
    EXPECT_EQ(report.measurements_added, 3);
    EXPECT_EQ(report.already_there, 1);
    const Store store = Store::open(folder.path("a"), Store::Mode::read);
    EXPECT_EQ(store.runs().size(), 3u);
    EXPECT_EQ(store.measurements("shared").size(), 3u);
    EXPECT_EQ(store.ratios("shared").size(), 3u);
    EXPECT_TRUE(store.pending("shared").empty());
    EXPECT_EQ(store.measurements("own-b").size(), 2u);
    EXPECT_EQ(store.measurements("own-b")[0].driver, "590.1");
    EXPECT_EQ(store.samples_of("own-b", case_id(5), 1).size(), 64u);
    EXPECT_EQ(store.plan("own-b"), std::vector{case_id(5)});
    EXPECT_TRUE(store.verify().problems.empty());
}

TEST_F(Merge, TwiceIsOnce) {
    merge("a", "b");
    const std::string once = dump("a");
    const MergeReport report = merge("a", "b");
    EXPECT_EQ(report.runs_added + report.measurements_added, 0);
    EXPECT_EQ(report.already_there, 4);
    EXPECT_EQ(dump("a"), once);
}

TEST_F(Merge, EveryOrderGivesTheSame) {
    std::vector<std::string> order = {"a", "b", "c"};
    std::string first;
    do {
        const std::string all = order[0] + order[1] + order[2];
        for (const std::string& name : order) merge(all, name);
        if (first.empty()) first = dump(all);
        EXPECT_EQ(dump(all), first) << all;
    } while (std::next_permutation(order.begin(), order.end()));
    merge("b", "c");  // a + (b + c)
    merge("right", "a");
    merge("right", "b");
    EXPECT_EQ(dump("right"), first);
}

TEST_F(Merge, WithItselfChangesNothing) {
    const std::string before = dump("a");
    const MergeReport report = merge("a", "a");
    EXPECT_EQ(report.measurements_added + report.runs_added, 0);
    EXPECT_EQ(report.already_there, 4);
    EXPECT_EQ(dump("a"), before);
}

TEST_F(Merge, WithAnEmptyStoreChangesNothing) {
    (void)Store::open(folder.path("none"), Store::Mode::create);
    const std::string before = dump("a");
    merge("a", "none");
    EXPECT_EQ(dump("a"), before);
}

TEST_F(Merge, TheLaterStateWins) {
    const auto end = [&](const char* name, RunState state, const char* at) {
        Store::open(folder.path(name), Store::Mode::write).end_run("shared", state, at);
    };
    end("b", RunState::finished, "2026-12-01T18:00:00.000Z");
    end("c", RunState::interrupted, "2026-12-01T19:00:00.000Z");
    Store::open(folder.path("c"), Store::Mode::write).set_tag("shared", "tagged");
    for (const char* order : {"abc", "acb", "bac", "bca", "cab", "cba"}) {
        for (const char* name = order; *name != '\0'; ++name) merge(order, std::string(1, *name));
        const auto merged = Store::open(folder.path(order), Store::Mode::read).run("shared");
        EXPECT_EQ(merged.state, RunState::finished) << order;
        EXPECT_EQ(merged.finished_at, "2026-12-01T18:00:00.000Z") << order;
        EXPECT_EQ(merged.tag, "tagged") << order;
    }
}

TEST_F(Merge, AnErrorThatIsNoNumberIsNoConflict) {
    Measurement m = measurement(7);
    m.error = std::numeric_limits<double>::quiet_NaN();
    Store::open(folder.path("a"), Store::Mode::write).add("shared", m);
    merge("b", "a");
    EXPECT_EQ(merge("b", "a").measurements_added, 0);
}

TEST_F(Merge, RefusesWhatDiffersAndChangesNothing) {
    struct Conflict {
        std::string sql, named;
    };
    const std::string case_1 =
        " WHERE case_key = (SELECT id FROM cases WHERE case_id = '" + case_id(1) + "') AND run = 1";
    int at = 0;
    for (const Conflict& conflict : std::vector<Conflict>{
             {"UPDATE measurements SET time_ns = 1" + case_1, case_id(1)},
             {"UPDATE measurements SET status = 'failed'" + case_1, case_id(1)},
             {"UPDATE measurements SET power_w = NULL" + case_1, case_id(1)},
             {"UPDATE measurements SET error = 0.5" + case_1, case_id(1)},
             {"UPDATE measurements SET samples = (SELECT samples FROM measurements WHERE id = 2)" +
                  case_1,
              case_id(1)},
             {"UPDATE ratios SET hi = 100" + case_1, "the ratio of " + case_id(1)},
             {"UPDATE runs SET started_at = '2026' WHERE id = 1", "run shared"},
             {"UPDATE runs SET options = '{}' WHERE id = 1", "run shared"},
             {"UPDATE runs SET environment = 2 WHERE id = 1", "run shared"}}) {
        const std::string name = "odd" + std::to_string(at++);
        Store::open(folder.path("b"), Store::Mode::read).backup(folder.path(name));
        execute(folder.path(name), conflict.sql);
        // A run before and one after the conflict, that must not stay.
        const std::string before = dump("a");
        const std::string line = error_of(ExitCode::usage, [&] { merge("a", name); });
        EXPECT_THAT(line, HasSubstr(conflict.named)) << conflict.sql;
        EXPECT_THAT(line, HasSubstr("run shared")) << conflict.sql;
        EXPECT_THAT(line, HasSubstr(folder.path(name))) << conflict.sql;
        EXPECT_EQ(dump("a"), before) << conflict.sql;
    }
}

TEST_F(Merge, ABadFileIsNamed) {
    const std::string before = dump("a");
    write_file(folder.path("bad"), "no database");
    for (const char* name : {"bad", "missing", ""}) {
        EXPECT_THAT(error_of(ExitCode::usage, [&] { merge("a", name); }),
                    HasSubstr(folder.path(name)));
    }
    EXPECT_EQ(dump("a"), before);
}

}  // namespace
}  // namespace etalon
