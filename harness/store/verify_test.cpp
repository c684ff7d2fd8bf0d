#include <gmock/gmock.h>

#include "harness/store/test_support.h"

namespace etalon {
namespace {

using namespace store_test;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Verify : public testing::Test {
   protected:
    Verify() { make_store(path, 3); }
    std::vector<std::string> problems() {
        std::vector<std::string> found = Store::open(path, Store::Mode::read).verify().problems;
        for (const std::string& line : found) EXPECT_EQ(line.find('\n'), std::string::npos) << line;
        return found;
    }
    // What verify says after `sql`.
    std::vector<std::string> after(const std::string& sql) {
        execute(path, sql);
        return problems();
    }
    TemporaryFolder folder;
    const std::string path = folder.path("results.db");
};

TEST_F(Verify, ASoundFileIsCounted) {
    const VerifyReport report = Store::open(path, Store::Mode::read).verify();
    EXPECT_THAT(report.problems, IsEmpty());
    EXPECT_EQ(report.runs, 1);
    EXPECT_EQ(report.measurements, 3);
    EXPECT_EQ(report.samples, 3 * 64);
}

TEST_F(Verify, RepeatsAreCheckedOneByOne) {
    {
        Store store = Store::open(path, Store::Mode::write);
        Measurement m = measurement(0);
        m.samples.resize(10);
        m.time_ns = Estimate{m.samples[0].duration_ns, 0, 1e9};
        store.add("run-a", m);
    }
    EXPECT_THAT(problems(), IsEmpty());
    EXPECT_THAT(after("UPDATE measurements SET sample_count = 20 WHERE repeat = 1"),
                ElementsAre(HasSubstr("20 samples are claimed and 10 stored")));
}

TEST_F(Verify, FailuresNeedNoTimes) {
    Measurement m;
    m.key = store::parse_stored_case(case_id(4));
    m.status = Status::failed;
    Store::open(path, Store::Mode::write).add("run-a", m);
    EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Verify, RowsThatReferToNothing) {
    EXPECT_THAT(
        after("DELETE FROM texts WHERE text = 'precision'"),
        Contains(AllOf(HasSubstr("table measurements"), HasSubstr("missing row of texts"))));
    EXPECT_THAT(after("UPDATE runs SET environment = 99"),
                Contains(HasSubstr("missing row of environments")));
}

TEST_F(Verify, AnEnvironmentUnderAnotherHash) {
    EXPECT_THAT(after("UPDATE environments SET driver = '1.2'"),
                ElementsAre(AllOf(HasSubstr("run run-a"), HasSubstr("hash"))));
}

TEST_F(Verify, AnEnvironmentThatCannotBeRead) {
    EXPECT_THAT(after("UPDATE environments SET extra = '{'"),
                ElementsAre(AllOf(HasSubstr("run run-a"), HasSubstr("is damaged"))));
}

TEST_F(Verify, AnOkRowWithNoTime) {
    EXPECT_THAT(after("UPDATE measurements SET time_ns = NULL WHERE id = 1"),
                ElementsAre(AllOf(HasSubstr(case_id(0)), HasSubstr("no time"))));
}

TEST_F(Verify, AnOkRowWithNoSamples) {
    EXPECT_THAT(after("UPDATE measurements SET samples = NULL, sample_count = 0 WHERE id = 2"),
                ElementsAre(AllOf(HasSubstr(case_id(1)), HasSubstr("no samples"))));
}

TEST_F(Verify, AMedianThatIsNoneOfItsSamples) {
    EXPECT_THAT(after("UPDATE measurements SET time_ns = 1, time_lo_ns = 1, time_hi_ns = 1 "
                      "WHERE id = 1"),
                ElementsAre(HasSubstr("the median 1 ns is not among its samples")));
    EXPECT_THAT(after("UPDATE measurements SET time_ns = 1e6, time_lo_ns = 1, time_hi_ns = 1e7 "
                      "WHERE id = 1"),
                ElementsAre(HasSubstr("the median 1000000 ns is not among its samples")));
}

TEST_F(Verify, AValueOutsideOfItsInterval) {
    EXPECT_THAT(after("UPDATE measurements SET time_lo_ns = 27050 WHERE id = 1"),
                ElementsAre(HasSubstr("the time 27040 ns is outside of its interval")));
    EXPECT_THAT(after("UPDATE measurements SET time_lo_ns = 1, norm_hi_ns = 2 WHERE id = 1"),
                ElementsAre(HasSubstr("the normalised time 22300.1234567 ns is outside")));
    EXPECT_THAT(after("UPDATE measurements SET norm_hi_ns = 1e6 WHERE id = 1; "
                      "UPDATE ratios SET lo = 2"),
                ElementsAre(HasSubstr("the ratio 1.25 is outside of its interval [2, 1.3]")));
}

TEST_F(Verify, MoreSamplesOrFewerThanClaimed) {
    EXPECT_THAT(after("UPDATE measurements SET sample_count = 63 WHERE id = 1"),
                ElementsAre(HasSubstr("63 samples are claimed and 64 stored")));
    EXPECT_THAT(after("UPDATE measurements SET sample_count = 65 WHERE id = 1"),
                ElementsAre(HasSubstr("65 samples are claimed and 64 stored")));
}

TEST_F(Verify, SamplesThatCannotBeRead) {
    EXPECT_THAT(after("UPDATE measurements SET samples = x'0102030405' WHERE id = 3"),
                ElementsAre(AllOf(HasSubstr("run run-a"), HasSubstr(case_id(2)))));
}

TEST_F(Verify, ACaseIdThatIsNone) {
    EXPECT_THAT(after("UPDATE cases SET case_id = 'gemm' WHERE id = 1"),
                ElementsAre(AllOf(HasSubstr("run run-a"), HasSubstr("'gemm' is not a case id"))));
}

TEST_F(Verify, ADamagedRunDoesNotHideTheNext) {
    Store::open(path, Store::Mode::write).begin_run(environment("590"), run("run-b"), {});
    Store::open(path, Store::Mode::write).add("run-b", measurement(0));
    EXPECT_THAT(after("UPDATE environments SET extra = '{' WHERE id = 1; "
                      "UPDATE measurements SET samples = x'00' WHERE id = 4"),
                ElementsAre(HasSubstr("run run-a"), HasSubstr("run run-b")));
}

TEST_F(Verify, AStateThatTheSchemaForbids) {
    EXPECT_THAT(after("PRAGMA ignore_check_constraints = ON; UPDATE runs SET state = 'gone'"),
                ElementsAre(HasSubstr("CHECK constraint failed in runs")));
}

TEST_F(Verify, ADamagedTree) {
    // An index that says other things than its table.
    EXPECT_THAT(after("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = "
                      "(SELECT rootpage FROM sqlite_schema WHERE name = 'texts_by_hash') "
                      "WHERE name = 'measurements_by_run'"),
                Contains(HasSubstr("measurements_by_run")));
}

}  // namespace
}  // namespace etalon
