#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/store/store.h"

namespace etalon {
namespace {

using Field = std::optional<std::string> Selection::*;
constexpr std::array<std::pair<const char*, Field>, 9> fields = {{
    {"run", &Selection::run},
    {"tag", &Selection::tag},
    {"suite", &Selection::suite},
    {"driver", &Selection::driver},
    {"cudnn", &Selection::cudnn},
    {"gpu", &Selection::gpu},
    {"device", &Selection::device},
    {"since", &Selection::since},
    {"until", &Selection::until},
}};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// 9.14 matches 9.14 and 9.14.0, not 9.140.
bool version_matches(const std::string& wanted, const std::string& found) {
    return found == wanted || found.starts_with(wanted + ".");
}

// 2026, 2026-12, 2026-12-01, 2026-12-01T17:04, ...:05, ...:05.123, with or without Z.
bool is_time(std::string_view text) {
    constexpr std::string_view pattern = "dddd-dd-ddTdd:dd:dd.ddd";
    if (text.size() > 10 && text.back() == 'Z') text.remove_suffix(1);
    constexpr std::array<std::size_t, 6> lengths = {4, 7, 10, 16, 19, 23};
    if (std::find(lengths.begin(), lengths.end(), text.size()) == lengths.end()) return false;
    return std::equal(text.begin(), text.end(), pattern.begin(),
                      [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
}

// −1, 0 or 1, as far as `wanted` goes: a day stands for all of it.
int compare_time(const std::string& found, std::string wanted) {
    if (wanted.ends_with('Z')) wanted.pop_back();
    return found.compare(0, wanted.size(), wanted);
}

}  // namespace

Selection Selection::parse(std::string_view text) {
    Selection selection;
    std::vector<std::string> known;
    for (const auto& [name, field] : fields) known.emplace_back(name);
    for (const std::string& part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos) {
            throw usage_error(fmt::format("'{}' chooses no runs; write key=value with one of {}",
                                          part, join(known, ", ")));
        }
        const std::string key = trim(part.substr(0, equals));
        const std::string value = trim(part.substr(equals + 1));
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const auto& field) { return field.first == key; });
        if (found == fields.end()) throw usage_error(unknown_name("key", key, known));
        if (value.empty()) throw usage_error(fmt::format("'{}=' needs a value", key));
        if ((key == "since" || key == "until") && !is_time(value)) {
            throw usage_error(
                fmt::format("'{}' is not a time; write {}=2026-12-01 or {}=2026-12-01T17:04:05Z",
                            value, key, key));
        }
        if (selection.*(found->second)) {
            throw usage_error(fmt::format("'{}=' is given twice; leave one", key));
        }
        selection.*(found->second) = value;
    }
    return selection;
}

std::string Selection::text() const {
    std::vector<std::string> parts;
    for (const auto& [name, field] : fields) {
        if (this->*field) parts.push_back(fmt::format("{}={}", name, *(this->*field)));
    }
    return parts.empty() ? "all runs" : join(parts, ",");
}

bool Selection::matches(const Run& candidate, const Environment& environment) const {
    const auto equal = [](const std::optional<std::string>& wanted, const std::string& found) {
        return !wanted || *wanted == found;
    };
    return (!run || candidate.run_id.starts_with(*run)) && equal(tag, candidate.tag) &&
           equal(suite, candidate.suite) && equal(device, candidate.device) &&
           (!driver || version_matches(*driver, environment.driver)) &&
           (!cudnn || version_matches(*cudnn, environment.cudnn)) &&
           (!gpu || lower(environment.gpu).find(lower(*gpu)) != std::string::npos) &&
           (!since || compare_time(candidate.started_at, *since) >= 0) &&
           (!until || compare_time(candidate.started_at, *until) <= 0) &&
           equal(environment_hash, candidate.environment_hash) &&
           (!finished_only || candidate.state == RunState::finished);
}

}  // namespace etalon
