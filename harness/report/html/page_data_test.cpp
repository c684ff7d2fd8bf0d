#include "harness/report/html/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/history/simulated_nights.h"
#include "harness/report/html/case_columns.h"
#include "harness/store/test_support.h"

namespace etalon::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Compact, SixDigitsAndNoNaN) {
    EXPECT_EQ(compact(1234567.8).dump(), "1234570");
    EXPECT_EQ(compact(0.123456789).dump(), "0.123457");
    EXPECT_EQ(compact(20.0).dump(), "20");
    EXPECT_TRUE(compact(std::nan("")).is_null());
    EXPECT_TRUE(compact(INFINITY).is_null());
}

TEST(BarsOf, CountEverySampleAndKeepTheRange) {
    EXPECT_EQ(bars_of({}).heights, "");
    EXPECT_EQ(bars_of(std::vector<double>{5, 5, 5}).heights, "z");
    std::vector<double> two_modes(30, 1.0);
    two_modes.push_back(2.0);
    const Bars bars = bars_of(two_modes);
    EXPECT_EQ(bars.least, 1);
    EXPECT_EQ(bars.greatest, 2);
    EXPECT_EQ(bars.heights.front(), 'z');
    EXPECT_NE(bars.heights.back(), '0');  // one of thirty is still seen
    EXPECT_EQ(bars.heights.size(), 24U);
    EXPECT_EQ(bars_of(std::vector<double>{1, NAN, 3}).heights.size(), 2U);
}

TEST(JsonForHtml, HoldsNothingThatCouldEndAScript) {
    const json value = {{"a", "</script><!-- \u2028 \u2029 &"}, {"b", "\xff\xfe"}};
    const std::string text = json_for_html(value);
    EXPECT_THAT(text, Not(HasSubstr("<")));
    EXPECT_THAT(text, Not(HasSubstr("\u2028")));
    EXPECT_THAT(text, Not(HasSubstr("\u2029")));
    EXPECT_EQ(json::parse(text)["a"], value["a"]);
}

// 40 nights of `count` cases; the first one gets slower by a tenth at night 20.
history::SimulatedNights nights_of(int count) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) ids.push_back(store_test::case_id(i));
    history::SimulatedNights nights(ids);
    stats::Simulation random(7);
    for (int night = 0; night < 40; ++night) {
        nights.add(nights.environment(night < 20 ? "580.95" : "590.10"), "abc", [&](std::size_t c) {
            return 20e3 * (c == 0 && night >= 20 ? 1.1 : 1) * std::exp(0.002 * random.normal());
        });
    }
    return nights;
}

TEST(Histories, KeepTheInterestingWholeAndThinTheRest) {
    auto simulated = nights_of(5);
    const NightValues& values = simulated.sorted();
    const auto lines = history::lines_of(values);
    const json out = histories_json(lines, {}, {.whole = 1, .few = 6});
    ASSERT_EQ(out["lines"].size(), 5U);
    const json& first = out["lines"][0];
    EXPECT_EQ(first["values"].size(), 40U);
    ASSERT_EQ(first["points"].size(), 1U);
    EXPECT_EQ(first["points"][0]["run"], 20);
    EXPECT_THAT(first["points"][0]["causes"].dump(), HasSubstr("driver 580.95 -> 590.10"));
    const json& second = out["lines"][1];
    EXPECT_EQ(second["values"].size(), 6U);
    EXPECT_EQ(second["of"], 40);
    // Each value is within 0.001 % of the stored one, on the night that its list names.
    for (std::size_t l = 0; l < lines.size(); ++l) {
        const json& one = out["lines"][l];
        const json& list = out["night_lists"][one["nights"].get<std::size_t>()];
        ASSERT_EQ(list.size(), one["values"].size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            const double time_ns = one["base_ns"].get<double>() *
                                   (1 + out["step"].get<double>() * one["values"][i].get<double>());
            EXPECT_NEAR(time_ns / lines[l].nights[list[i].get<std::size_t>()].time_ns, 1, 2e-5);
        }
    }
    EXPECT_EQ(out["night_lists"].size(), 2U);  // shared
}

TEST(Histories, WhatTheGateSpeaksOfStaysWhole) {
    auto simulated = nights_of(5);
    const auto lines = history::lines_of(simulated.sorted());
    const json out = histories_json(lines, {store_test::case_id(3)}, {.whole = 1, .few = 6});
    EXPECT_EQ(out["lines"][3]["values"].size(), 40U);
    EXPECT_LT(out["lines"][0]["values"].size(), 10U);
    EXPECT_EQ(out["lines"][0]["points"].size(), 1U);  // thinned, but its change is told
}

TEST(Runs, NameWhatChangedWithThem) {
    auto simulated = nights_of(1);
    const json runs = runs_json(simulated.sorted());
    EXPECT_FALSE(runs[19].contains("changes"));
    EXPECT_THAT(runs[20]["changes"].dump(), HasSubstr("driver 580.95 -> 590.10"));
}

TEST(PageData, OfARunOfOneCaseAndOfNone) {
    const TemporaryFolder folder;
    const std::string path = folder.path("one.db");
    { (void)Store::open(path, Store::Mode::create); }
    EXPECT_TRUE(page_data(Store::open(path, Store::Mode::read), {})["run"].is_null());

    store_test::make_store(folder.path("two.db"), 2);
    const json data = page_data(Store::open(folder.path("two.db"), Store::Mode::read), {});
    EXPECT_EQ(data["format"], "etalon.page/1");
    EXPECT_EQ(data["run"]["host_name"], "h200-3");
    ASSERT_EQ(data["cases"]["id"].size(), 2U);
    for (const auto& [name, column] : data["cases"].items()) {
        if (name == "reasons") continue;
        EXPECT_EQ(column.size(), 2U) << name;
    }
    EXPECT_EQ(data["cases"]["baseline"][0], 1);
    EXPECT_EQ(data["cases"]["baseline"][1], -1);
    EXPECT_EQ(data["cases"]["samples"][0], 64);
    EXPECT_TRUE(data["gate"].is_null());
    EXPECT_TRUE(data["compare"].is_null());
    EXPECT_EQ(data["histories"]["lines"].size(), 2U);
}

TEST(HtmlPage, IsOneFileThatFetchesNothing) {
    const std::string page = html_page({{"run", nullptr}});
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    EXPECT_THAT(page, Not(HasSubstr("<link rel=\"stylesheet")));
    EXPECT_THAT(page, Not(HasSubstr("sourceMappingURL")));
    EXPECT_LT(page.size(), 400U << 10);  // what each page costs before its data
}

}  // namespace
}  // namespace etalon::report
