// What a GPU-hour costs: rented, from a dated file, or owned.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::cost {

// Older than this a price is flagged: the market moves by tens of percent in a quarter.
inline constexpr int stale_after_days = 90;

struct Price {
    std::string gpu, tier;
    double usd_per_hour = 0;        // of one GPU; the middle of a range
    double lo_usd = 0, hi_usd = 0;  // ends of the range
    std::string date;               // YYYY-MM-DD; empty: given on the command line
    std::string source;
    int age_days = 0;
    [[nodiscard]] bool stale() const { return age_days > stale_after_days; }
    // "$2.90 per GPU-hour (H200, rent-3-year, 2026-09-08, 86 days old, SOURCE)"
    [[nodiscard]] std::string text() const;
};

// `today`: YYYY-MM-DD or longer. Faults name file and line.
[[nodiscard]] std::vector<Price> parse_prices(std::string_view toml, const std::string& file,
                                              std::string_view today);
// The latest entry of this card, in this tier where one is named. Throws a usage Error that lists
// the cards or the tiers there are.
[[nodiscard]] Price choose_price(const std::vector<Price>& prices, const std::string& card,
                                 const std::optional<std::string>& tier);

// Days since 1970-01-01; nullopt where the text is no date of the calendar.
[[nodiscard]] std::optional<int> day_number(std::string_view date);

// A card that is owned: its price over its years, and its power with that of the building.
struct Owned {
    double capex_usd = 0;  // of a GPU with its share of server and network
    double years = 0;      // straight line, to nothing
    double watts = 0;      // drawn by GPU and its share of the server
    double pue = 1;        // building's power / IT power
    double usd_per_kwh = 0;
    [[nodiscard]] double usd_per_hour() const;
    [[nodiscard]] std::string text() const;
};
// capex=30000,years=4,watts=1000,pue=1.3,kwh=0.08: all five. Throws a usage Error that names the
// one that is wrong.
[[nodiscard]] Owned parse_owned(std::string_view text);

}  // namespace etalon::cost
