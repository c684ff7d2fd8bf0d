// Bounds of cases whose work and elasticity are known.
#include "harness/report/roofline.h"

#include <gmock/gmock.h>

namespace etalon::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportCell cell(const std::string& id, double time_ns, double flop, double bytes, Estimate e) {
    ReportCell out;
    out.case_id = id;
    out.time_ns = out.norm_time_ns = Estimate{time_ns, time_ns, time_ns};
    out.elasticity = e;
    out.flop = flop;
    out.bytes_min = bytes;
    return out;
}

class RooflineTest : public ::testing::Test {
   protected:
    // 4 TB/s of copies and 800 TFLOP/s of products: the ridge lies at 200 FLOP/B.
    RooflineTest() {
        ReportTable copies{"copy", "fp32", {}, {}, {}};
        copies.rows.push_back({"n=1", L2Mode::cold, {cell("copy", 1000, 0, 4e6, {0.05, 0, 0.1})}});
        // Out of the cache, so no ceiling of memory.
        copies.rows.push_back({"n=1", L2Mode::hot, {cell("hot", 1000, 0, 9e6, {0.4, 0.3, 0.45})}});
        ReportTable products{"gemm", "bf16", {}, {}, {}};
        products.rows.push_back(
            {"large", L2Mode::cold, {cell("large", 1e6, 800e9, 1e9, {0.95, 0.9, 1})}});
        products.rows.push_back(
            {"decode", L2Mode::cold, {cell("decode", 1000, 1e8, 3.5e6, {0.1, 0.05, 0.15})}});
        products.rows.push_back(
            {"idle", L2Mode::cold, {cell("idle", 10e3, 8e7, 1e5, {0.9, 0.8, 1})}});
        products.rows.push_back(
            {"starved", L2Mode::cold, {cell("starved", 1e6, 400e9, 1.9e9, {0.1, 0, 0.2})}});
        products.rows.push_back(
            {"unsure", L2Mode::cold, {cell("unsure", 1000, 1e8, 3e6, {0.5, 0.1, 0.9})}});
        report_.tables = {copies, products};
        report_.run.run_id = "run";
    }
    const RooflinePoint& at(const Roofline& all, const std::string& id) const {
        for (const RooflinePoint& point : all.points) {
            if (point.case_id == id) return point;
        }
        throw std::out_of_range(id);
    }
    Report report_;
};

TEST_F(RooflineTest, CeilingsAreWhatTheRunHasReached) {
    const Roofline all = roofline(report_);
    EXPECT_DOUBLE_EQ(all.memory_gbs.value, 4000);
    EXPECT_EQ(all.memory_gbs.case_id, "copy");
    EXPECT_DOUBLE_EQ(all.tflops.at("bf16").value, 800);
    EXPECT_EQ(all.tflops.at("bf16").case_id, "large");
    EXPECT_FALSE(all.tflops.contains("fp32"));
}

TEST_F(RooflineTest, BoundsByBothAccounts) {
    const Roofline all = roofline(report_);
    const auto expect = [&](const std::string& id, Bound intensity, Bound elasticity) {
        EXPECT_EQ(at(all, id).by_intensity, intensity) << id;
        EXPECT_EQ(at(all, id).by_elasticity, elasticity) << id;
    };
    expect("copy", Bound::memory, Bound::memory);
    expect("large", Bound::compute, Bound::compute);
    expect("decode", Bound::memory, Bound::memory);
    expect("idle", Bound::compute, Bound::latency);    // on paper compute-bound, in fact idle
    expect("starved", Bound::compute, Bound::memory);  // waits for memory all the same
    expect("unsure", Bound::memory, Bound::mixed);
    EXPECT_TRUE(at(all, "starved").disagree());
    EXPECT_FALSE(at(all, "unsure").disagree());
    EXPECT_DOUBLE_EQ(at(all, "decode").memory_share, 3500.0 / 4000);
}

TEST_F(RooflineTest, TextAndJsonNameTheDisagreements) {
    report_.tables[0].rows[1].cells[0].elasticity.reset();
    const Roofline all = roofline(report_);
    EXPECT_EQ(all.without_elasticity, 1);
    const std::string text = roofline_text(all, true);
    EXPECT_THAT(text, HasSubstr("disagree on 2 of 6 cases"));
    EXPECT_THAT(text, HasSubstr("starved"));
    EXPECT_THAT(text, Not(HasSubstr("decode")));
    EXPECT_THAT(roofline_text(all, false), HasSubstr("decode"));
    const nlohmann::json json = roofline_json(all);
    EXPECT_EQ(json["format"], "etalon.roofline/1");
    EXPECT_EQ(json["cases"].size(), 6u);
}

TEST(Roofline, ARunOfNothingIsAnEmptyTable) {
    EXPECT_THAT(roofline_text(roofline({}), false), HasSubstr("0 of 0 cases"));
}

}  // namespace
}  // namespace etalon::report
