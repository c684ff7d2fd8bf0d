#include "harness/cost/money.h"

#include <gmock/gmock.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/cost/prices.h"
#include "harness/cost/synthetic_kernels.h"

namespace etalon::cost {
namespace {

using ::testing::HasSubstr;

Grid small_grid() {
    return {.models = {load_model("llama-3.1-8b")},
            .precisions = {Precision::bf16, Precision::fp8},
            .tp = {1, 2},
            .batches = {1, 4, 16, 64},
            .isl = {256, 1024},
            .osl = {512}};
}

CostTable table_at(double usd, double utilisation = 1,
                   Convention convention = Convention::additive) {
    static const KernelSet set = synthetic_kernels(small_grid());
    Pricing pricing = fixed_price(usd);
    pricing.utilisation = utilisation;
    pricing.convention = convention;
    return build_table(small_grid(), {set}, shipped_cards(), {}, pricing);
}

TEST(Money, FallsOrStaysWithThePriceAndIsNeverNegative) {
    const CostTable dear = table_at(4), cheap = table_at(2), free = table_at(0);
    for (std::size_t i = 0; i < dear.rows.size(); ++i) {
        for (const auto part : {&Cost::input_usd, &Cost::output_usd, &Cost::request_usd}) {
            const Estimate a = dear.rows[i].cost.*part, b = cheap.rows[i].cost.*part;
            EXPECT_LT(b.value, a.value);
            EXPECT_NEAR(b.value, a.value / 2, 1e-9 * a.value);
            EXPECT_EQ((free.rows[i].cost.*part).value, 0);
            EXPECT_GE(b.lo, 0);
            EXPECT_LE(b.lo, b.value);
            EXPECT_GE(b.hi, b.value);
        }
    }
}

TEST(Money, EveryConventionSumsToTheRequest) {
    for (const Convention convention :
         {Convention::additive, Convention::blended, Convention::output}) {
        for (const TableRow& row : table_at(2.9, 0.6, convention).rows) {
            const double sum = static_cast<double>(row.workload.isl) * row.cost.input_usd.value +
                               static_cast<double>(row.workload.osl) * row.cost.output_usd.value;
            EXPECT_NEAR(sum / (1e6 * row.cost.request_usd.value), 1, 1e-9) << name(convention);
        }
    }
}

// The formulas of the model, written out once more.
TEST(Money, IsWhatTheFormulasSay) {
    for (const TableRow& row : table_at(2.9, 0.5).rows) {
        const double p = 2.9, g = row.layout.tp, u = 0.5;
        const double isl = static_cast<double>(row.workload.isl);
        const double b = static_cast<double>(row.served.batch);
        EXPECT_NEAR(row.cost.input_usd.value,
                    p * g * row.served.prefill_ns.value / 1e9 * 1e6 / (3600 * isl * u), 1e-9);
        EXPECT_NEAR(row.cost.output_usd.value,
                    p * g * row.served.decode_ns.value / 1e9 * 1e6 / (3600 * b * u), 1e-9);
    }
}

TEST(Money, ATighterMeasurementGivesATighterCost) {
    const Grid grid = small_grid();
    const auto width = [&](double half_width) {
        const KernelSet set = synthetic_kernels(grid, half_width);
        const CostTable table = build_table(grid, {set}, shipped_cards(), {}, fixed_price(2));
        const Estimate& cost = table.rows[5].cost.request_usd;
        return (cost.hi - cost.lo) / cost.value;
    };
    EXPECT_LT(width(0.005), width(0.01));
    EXPECT_LT(width(0.01), width(0.05));
    EXPECT_LT(width(0.05), width(0.2));
}

TEST(WhatIf, TheTextbookCaseFreesTenGpus) {
    WhatIf what_if{.gpus = 20, .rps = 50};
    parse_utilisation_range("30%..60%", what_if);
    EXPECT_EQ(textbook_gpus(what_if, 1), 10);
    EXPECT_EQ(20 - textbook_gpus(what_if, 1), 10);
    EXPECT_EQ(textbook_gpus(what_if, 4), 12);  // whole replicas
    parse_utilisation_range("0.3..0.3", what_if);
    EXPECT_EQ(textbook_gpus(what_if, 1), 20);
}

TEST(WhatIf, ALatencyLimitMakesItNotSimplyHalf) {
    Grid grid = small_grid();
    grid.batches = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    grid.tp = {1};
    grid.isl = {1024};
    grid.precisions = {Precision::bf16};
    const KernelSet set = synthetic_kernels(grid);
    const CostTable table = build_table(grid, {set}, shipped_cards(), {}, fixed_price(2));
    std::vector<Served> batches;
    for (const TableRow& row : table.rows) batches.push_back(row.served);
    const Workload workload = table.rows[0].workload;
    WhatIf what_if{.from = 0.3, .to = 0.9, .gpus = 30, .rps = 50};
    const FleetAnswer open = answer(what_if, batches, workload, {}, 1);
    ASSERT_TRUE(open.limited_gpus);
    EXPECT_EQ(*open.limited_gpus, 10);
    EXPECT_EQ(open.before->batch, open.after->batch);
    // The wait for a place grows with utilisation, so that the batch which meets the limit when the
    // fleet is idle does not when it is busy.
    const FleetAnswer limited = answer(what_if, batches, workload, {.ttft_ms = 150}, 1);
    ASSERT_TRUE(limited.limited_gpus);
    EXPECT_NE(limited.before->batch, 0);
    EXPECT_LE(limited.after->ttft_ms, 150);
    EXPECT_GE(*limited.limited_gpus, limited.textbook_gpus);
    // A tight TPOT takes small batches: of all that the GPUs could serve, less is left.
    const double tight = batches[2].tpot_ns.value / 1e6;
    const FleetAnswer slow = answer({.from = 0.3, .to = 0.6, .gpus = 20, .rps = 50}, batches,
                                    workload, {.tpot_ms = tight}, 1);
    EXPECT_EQ(slow.textbook_gpus, 10);
    EXPECT_EQ(slow.after->batch, 4);
    EXPECT_GT(*slow.limited_of_all_gpus, 20);
    const FleetAnswer never = answer(what_if, batches, workload, {.ttft_ms = 0.001}, 1);
    EXPECT_FALSE(never.after);
    EXPECT_FALSE(never.limited_gpus);
}

TEST(WhatIf, TheWaitGrowsWithUtilisationAndFallsWithPlaces) {
    EXPECT_LT(mean_wait_ns(1e9, 16, 0.3), mean_wait_ns(1e9, 16, 0.6));
    EXPECT_LT(mean_wait_ns(1e9, 64, 0.9), mean_wait_ns(1e9, 16, 0.9));
    EXPECT_TRUE(std::isinf(mean_wait_ns(1e9, 16, 1)));
    // One place: M/M/1, U/(1 − U) services.
    EXPECT_NEAR(mean_wait_ns(1e9, 1, 0.5), 1e9, 1);
}

TEST(WhatIf, BadRangesAreRefused) {
    WhatIf out;
    for (const char* text :
         {"30%", "0..60%", "30%..120%", "a..b", "30%...", "nan..60%", "..", ""}) {
        EXPECT_THROW(parse_utilisation_range(text, out), Error) << text;
    }
}

const char* two_prices = R"([[price]]
gpu = "H200"
tier = "neocloud"
usd_per_hour = [1.0, 2.0]
date = 2026-01-01
source = "a"
[[price]]
gpu = "H200"
tier = "rent"
usd_per_hour = 2.9
date = 2026-09-08
source = "b"
)";

TEST(Prices, TheLatestIsTakenAndAnOldOneIsFlagged) {
    const auto prices = parse_prices(two_prices, "p.toml", "2026-12-03T00:00:00Z");
    EXPECT_EQ(choose_price(prices, "H200", std::nullopt).usd_per_hour, 2.9);
    EXPECT_EQ(choose_price(prices, "NVIDIA H200", std::nullopt).age_days, 86);
    EXPECT_FALSE(choose_price(prices, "H200", "rent").stale());
    const Price old = choose_price(prices, "H200", "neocloud");
    EXPECT_EQ(old.usd_per_hour, 1.5);
    EXPECT_TRUE(old.stale());
    EXPECT_THAT(old.text(), HasSubstr("STALE"));
    EXPECT_THAT(old.text(), HasSubstr("middle of $1.00 to $2.00"));
    try {
        (void)choose_price(prices, "H200", "rant");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean 'rent'?"));
    }
    EXPECT_THROW((void)choose_price(prices, "B200", std::nullopt), Error);
}

TEST(Prices, TheShippedFileHasEveryCardOfThePublicTable) {
    const std::string path = find_data_file("prices.toml").string();
    const auto prices = parse_prices(read_text(path), path, "2026-12-03");
    for (const char* card : {"H100", "H200", "B200"}) {
        EXPECT_GT(choose_price(prices, card, "rent-3-year").usd_per_hour, 0);
        EXPECT_FALSE(choose_price(prices, card, std::nullopt).stale()) << card;
    }
    EXPECT_EQ(choose_price(prices, "H200", "rent-3-year").usd_per_hour, 2.90);
}

TEST(Prices, FaultsNameFileAndLine) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            (void)parse_prices(text, "p.toml", "2026-12-03");
        } catch (const Error& error) {
            return error.what();
        }
        return "read";
    };
    const std::string head = "[[price]]\ngpu = \"H200\"\ntier = \"x\"\nsource = \"s\"\n";
    EXPECT_THAT(refusal("["), HasSubstr("p.toml:1: "));
    EXPECT_THAT(refusal("[prices]\n"), HasSubstr("[[price]]"));
    EXPECT_THAT(refusal(head), HasSubstr("'usd_per_hour' is missing"));
    EXPECT_THAT(refusal(head + "usd_per_hour = -1\ndate = 2026-01-01\n"),
                HasSubstr("p.toml:5: 'usd_per_hour' must be a positive number"));
    EXPECT_THAT(refusal(head + "usd_per_hour = nan\ndate = 2026-01-01\n"), HasSubstr("positive"));
    EXPECT_THAT(refusal(head + "usd_per_hour = 1\ndate = \"yesterday\"\n"), HasSubstr("'date'"));
    EXPECT_THAT(refusal(head + "usd_per_hour = 1\ndate = 2027-01-01\n"), HasSubstr("future"));
    EXPECT_THAT(refusal(head + "usd_per_hour = 1\ndate = 2026-01-01\nprize = 2\n"),
                HasSubstr("unknown key 'prize'"));
}

TEST(Owned, IsCapitalAndPower) {
    const Owned owned = parse_owned("capex=35064,years=4,watts=1000,pue=1.5,kwh=0.1");
    EXPECT_NEAR(owned.usd_per_hour(), 1 + 0.15, 1e-9);
    for (const char* text :
         {"capex=1", "capex=1,capex=1,years=1,watts=1,pue=1,kwh=1", "x=1",
          "capex=nan,years=4,watts=1,pue=1.5,kwh=0.1", "capex=1,years=0,watts=1,pue=1.5,kwh=0.1",
          "capex=1,years=4,watts=1,pue=0.5,kwh=0.1", "capex", ""}) {
        EXPECT_THROW((void)parse_owned(text), Error) << text;
    }
}

}  // namespace
}  // namespace etalon::cost
