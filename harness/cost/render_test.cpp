// The table as people and programs read it: units everywhere, one shape in every form.

#include "harness/cost/render.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/cost/synthetic_kernels.h"
#include "harness/testing/scratch.h"

namespace etalon::cost {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Grid grid() {
    return {.models = {load_model("llama-3.1-8b"), load_model("qwen3-30b-a3b")},
            .batches = {1, 16},
            .isl = {512},
            .osl = {256}};
}

CostTable table(const KernelSet& set) {
    return build_table(grid(), {set}, shipped_cards(), {.tpot_ms = 50}, fixed_price(2.9));
}

TEST(Render, UnitsStandInEveryForm) {
    const CostTable full = table(synthetic_kernels(grid()));
    for (const Format format : {Format::text, Format::markdown}) {
        const std::string text = render(full, format, "sweep");
        for (const char* unit : {"TPOT ms", "TTFT ms", "tokens/s/GPU", "$/M input", "$/M output",
                                 "$/1000 requests", "$2.90 per GPU-hour", "convention additive",
                                 "TPOT at most 50 ms", "GB/s", "ISL tokens", "TP GPUs"}) {
            EXPECT_THAT(text, HasSubstr(unit));
        }
        EXPECT_THAT(text, HasSubstr("low confidence"));
        EXPECT_THAT(text, Not(HasSubstr("nan")));
    }
    const std::string csv = render(full, Format::csv, "sweep");
    for (const char* column : {"tpot_ms", "usd_per_million_input", "usd_per_million_output_hi",
                               "usd_per_request", "tokens_per_s_per_gpu", "usd_per_gpu_hour"}) {
        EXPECT_THAT(csv.substr(0, csv.find('\n')), HasSubstr(column));
    }
    const std::vector<std::string> lines = split(csv, '\n');
    ASSERT_EQ(lines.size(), full.rows.size() + 2);
    for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
        EXPECT_EQ(std::count(lines[i].begin(), lines[i].end(), ','),
                  std::count(lines[0].begin(), lines[0].end(), ','));
    }
    const auto json = nlohmann::json::parse(render(full, Format::json, "sweep"));
    EXPECT_EQ(json["format"], "etalon.cost/1");
    EXPECT_EQ(json["rows"].size(), full.rows.size());
    EXPECT_GT(json["rows"][0]["tpot_ms"].get<double>(), 0);
    EXPECT_FALSE(json.contains("measure_with"));
}

TEST(Render, IsTheSameForEveryOrderOfTheMeasurements) {
    KernelSet set = synthetic_kernels(grid());
    const std::string before = render(table(set), Format::json, "sweep");
    std::mt19937_64 random(fresh_seed());
    for (int i = 0; i < 3; ++i) {
        std::shuffle(set.kernels.begin(), set.kernels.end(), random);
        EXPECT_EQ(render(table(set), Format::json, "sweep"), before);
    }
}

TEST(Render, WhatIsMissingIsNamedWithTheCommandAndHasNoCost) {
    KernelSet set = synthetic_kernels(grid());
    std::erase_if(set.kernels, [](const Kernel& k) { return k.op == op::attention_decode; });
    const CostTable part = table(set);
    const std::string text = render(part, Format::text, "etalon sweep --suite llm");
    EXPECT_THAT(text, HasSubstr("attention_decode/bf16/batch=16"));
    EXPECT_THAT(text, HasSubstr("  etalon sweep --suite llm\n"));
    EXPECT_THAT(text, HasSubstr("operators missing"));
    const auto json = nlohmann::json::parse(render(part, Format::json, "X"));
    EXPECT_TRUE(json["rows"][0]["usd_per_request"].is_null());
    EXPECT_EQ(json["measure_with"], "X");
    EXPECT_FALSE(json["missing"].empty());
}

TEST(Render, AStepShowsEachOperatorWithItsSource) {
    const KernelSet set = synthetic_kernels(grid());
    const Card card = h200();
    Lookup lookup(set, card);
    const Model model = load_model("llama-3.1-8b");
    const StepEstimate step = estimate(model, decode_step(16, 640), {}, {}, lookup);
    double shares = 0;
    for (const StepRow& row : step.rows) shares += row.share;
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_LT(step.time_ns.lo, step.time_ns.value);
    const std::vector<Explained> steps = {{model.name, card.name, "", "best", {}, step}};
    const std::string text = render(steps, Format::text, "sweep");
    for (const char* part : {"gate_up", "gemm/bf16/m=16,n=28672,k=4096", "measured", "memory",
                             "each µs (95 %)", "share", "etalon", "step "}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    const auto json = nlohmann::json::parse(render(steps, Format::json, "sweep"));
    EXPECT_EQ(json["steps"][0]["operators"].size(), step.rows.size());
}

// The vendor's kernels were made slower, and a framework fuses nothing: what that is worth in $.
TEST(Render, ImplementationsStandSideBySide) {
    Grid four = grid();
    four.models.pop_back();
    four.impls = {Impl::framework, Impl::vendor, Impl::etalon, Impl::best};
    const CostTable full =
        build_table(four, {synthetic_kernels(grid())}, shipped_cards(), {}, fixed_price(2.9));
    ASSERT_EQ(full.rows.size(), 8U);
    for (const std::size_t batch : {0U, 1U}) {
        EXPECT_EQ(full.rows[batch].against_first, 1);
        EXPECT_LT(*full.rows[2 + batch].against_first, 1);
        EXPECT_LT(*full.rows[4 + batch].against_first, *full.rows[2 + batch].against_first);
        EXPECT_EQ(full.rows[6 + batch].against_first, full.rows[4 + batch].against_first);
    }
    EXPECT_THAT(render(full, Format::text, ""), HasSubstr("$ against first"));
}

TEST(Render, FormatsAreNamed) {
    EXPECT_EQ(parse_format("md"), Format::markdown);
    EXPECT_THROW((void)parse_format("html"), Error);
}

}  // namespace
}  // namespace etalon::cost
