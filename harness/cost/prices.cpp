#include "harness/cost/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <set>

#include "harness/cost/card.h"
#include "harness/cost/toml_reader.h"

namespace etalon::cost {

std::optional<int> day_number(std::string_view date) {
    if (date.size() < 10 || date[4] != '-' || date[7] != '-') return std::nullopt;
    int year = 0;
    unsigned month = 0, day = 0;
    const auto whole = [](std::string_view text, auto& value) {
        return std::from_chars(text.data(), text.data() + text.size(), value).ptr ==
               text.data() + text.size();
    };
    if (!whole(date.substr(0, 4), year) || !whole(date.substr(5, 2), month) ||
        !whole(date.substr(8, 2), day)) {
        return std::nullopt;
    }
    const std::chrono::year_month_day calendar{std::chrono::year(year), std::chrono::month(month),
                                               std::chrono::day(day)};
    if (!calendar.ok()) return std::nullopt;
    return static_cast<int>(std::chrono::sys_days(calendar).time_since_epoch().count());
}

std::string Price::text() const {
    std::string out = fmt::format("${:.2f} per GPU-hour (", usd_per_hour);
    if (date.empty()) return out + source + ")";
    out += fmt::format("{}, {}, {}, {} days old", gpu, tier, date, age_days);
    if (stale()) out += fmt::format(": STALE, over {} days", stale_after_days);
    if (lo_usd < hi_usd) out += fmt::format("; middle of ${:.2f} to ${:.2f}", lo_usd, hi_usd);
    return out + "; " + source + ")";
}

std::vector<Price> parse_prices(std::string_view text, const std::string& file,
                                std::string_view today) {
    std::vector<Price> prices;
    const int now = day_number(today).value();
    each_toml_entry(text, file, "price", [&](const TomlEntry& entry) {
        entry.only({"gpu", "tier", "usd_per_hour", "date", "source"});
        Price price;
        price.gpu = entry.text("gpu");
        price.tier = entry.text("tier");
        price.source = entry.text("source");
        const toml::node& amount = entry.need("usd_per_hour");
        if (const toml::array* range = amount.as_array()) {
            if (range->size() != 2) {
                throw entry.fault(amount, "'usd_per_hour' must be a number or a list of two");
            }
            price.lo_usd = entry.number("usd_per_hour", *range->get(0));
            price.hi_usd = entry.number("usd_per_hour", *range->get(1));
            if (price.lo_usd > price.hi_usd) std::swap(price.lo_usd, price.hi_usd);
        } else {
            price.lo_usd = price.hi_usd = entry.number("usd_per_hour");
        }
        price.usd_per_hour = (price.lo_usd + price.hi_usd) / 2;
        const toml::node& day = entry.need("date");
        if (const auto date = day.value_exact<toml::date>()) {
            price.date = fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
        } else if (const auto written = day.value_exact<std::string>()) {
            price.date = *written;
        }
        const auto number = day_number(price.date);
        if (!number || price.date.size() != 10) {
            throw entry.fault(day, "'date' must be a day, as in 2026-09-08");
        }
        price.age_days = now - *number;
        if (price.age_days < 0) {
            throw entry.fault(day, fmt::format("'date' {} is in the future", price.date));
        }
        prices.push_back(std::move(price));
    });
    return prices;
}

Price choose_price(const std::vector<Price>& prices, const std::string& card,
                   const std::optional<std::string>& tier) {
    std::set<std::string> cards, tiers;
    const Price* best = nullptr;
    for (const Price& price : prices) {
        cards.insert(price.gpu);
        if (!names_card(price.gpu, card)) continue;
        tiers.insert(price.tier);
        if (tier && *tier != price.tier) continue;
        // Of one day the cheapest, so that the choice does not depend on the order of the file.
        if (best == nullptr || price.age_days < best->age_days ||
            (price.age_days == best->age_days && price.usd_per_hour < best->usd_per_hour)) {
            best = &price;
        }
    }
    if (tiers.empty()) {
        throw usage_error(fmt::format(
            "no price of '{}' in the file (it has {}); give --price USD, or --prices FILE",
            one_line(card), join(std::vector<std::string>(cards.begin(), cards.end()), ", ")));
    }
    if (best == nullptr) {
        const std::vector<std::string> known(tiers.begin(), tiers.end());
        throw usage_error(unknown_name(fmt::format("tier of {}", card), *tier, known));
    }
    return *best;
}

double Owned::usd_per_hour() const {
    constexpr double hours_of_year = 24 * 365.25;
    return capex_usd / (years * hours_of_year) + watts / 1000 * pue * usd_per_kwh;
}

std::string Owned::text() const {
    return fmt::format("owned: ${:.0f} over {:g} years, {:.0f} W at PUE {:g} and ${:g} per kWh",
                       capex_usd, years, watts, pue, usd_per_kwh);
}

Owned parse_owned(std::string_view text) {
    Owned owned;
    struct Field {
        const char* name;
        double* value;
        double least, most;
        bool given = false;
    };
    Field fields[] = {{"capex", &owned.capex_usd, 0, 1e9},
                      {"years", &owned.years, 0.1, 100},
                      {"watts", &owned.watts, 0, 1e6},
                      {"pue", &owned.pue, 1, 10},
                      {"kwh", &owned.usd_per_kwh, 0, 100}};
    std::vector<std::string> known;
    for (const Field& field : fields) known.emplace_back(field.name);
    constexpr const char* form = "write --owned capex=30000,years=4,watts=1000,pue=1.3,kwh=0.08";
    for (const std::string& part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        const std::string key = trim(part.substr(0, equals));
        const auto field = std::find_if(std::begin(fields), std::end(fields),
                                        [&](const Field& each) { return each.name == key; });
        if (field == std::end(fields))
            throw usage_error(unknown_name("key of --owned", key, known));
        const std::string value = equals == std::string::npos ? "" : trim(part.substr(equals + 1));
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), *field->value);
        if (error != std::errc{} || end != value.data() + value.size() ||
            !(*field->value >= field->least && *field->value <= field->most)) {
            throw usage_error(fmt::format("--owned {}='{}' is not a number from {:g} to {:g}; {}",
                                          key, value, field->least, field->most, form));
        }
        if (field->given) throw usage_error(fmt::format("--owned has {} twice", key));
        field->given = true;
    }
    for (const Field& field : fields) {
        if (!field.given) {
            throw usage_error(fmt::format("--owned lacks {}; {}", field.name, form));
        }
    }
    return owned;
}

}  // namespace etalon::cost
