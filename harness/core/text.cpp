#include "harness/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>

namespace etalon {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = text.find(separator, begin);
        parts.emplace_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) return parts;
        begin = end + 1;
    }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string trim(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) return {};
    return std::string(text.substr(begin, text.find_last_not_of(blank) - begin + 1));
}

namespace {

// Optimal string alignment: insert, delete, replace, swap two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::string one_line(std::string text) {
    for (char& c : text) {
        if (c == '\n' || c == '\r') c = ' ';
    }
    return text;
}

std::optional<std::string> nearest(std::string_view text, std::span<const std::string> candidates) {
    std::optional<std::string> best;
    std::size_t best_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(text, candidate);
        const std::size_t allowed =
            std::max<std::size_t>(1, std::max(text.size(), candidate.size()) / 3);
        if (distance <= allowed && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string unknown_name(std::string_view what, std::string_view text,
                         std::span<const std::string> candidates) {
    std::string message = fmt::format("unknown {} '{}'", what, text);
    if (const auto guess = nearest(text, candidates)) {
        message += fmt::format("; did you mean '{}'?", *guess);
    }
    if (!candidates.empty()) message += fmt::format(" (known: {})", join(candidates, ", "));
    return message;
}

namespace {

// Matches one bracket expression at pattern[i] == '['. Sets `next` behind the ']'; with no closing
// bracket the '[' is an ordinary character.
bool match_bracket(std::string_view pattern, std::size_t i, char c, std::size_t& next) {
    std::size_t j = i + 1;
    const bool negated = j < pattern.size() && (pattern[j] == '!' || pattern[j] == '^');
    if (negated) ++j;
    bool found = false;
    bool first = true;
    while (j < pattern.size() && (pattern[j] != ']' || first)) {
        first = false;
        if (j + 2 < pattern.size() && pattern[j + 1] == '-' && pattern[j + 2] != ']') {
            found = found || (pattern[j] <= c && c <= pattern[j + 2]);
            j += 3;
        } else {
            found = found || pattern[j] == c;
            ++j;
        }
    }
    if (j >= pattern.size()) {
        next = i + 1;
        return c == '[';
    }
    next = j + 1;
    return found != negated;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
    // Greedy with one backtracking point: the last '*' is enough, so the time is O(n·m).
    std::size_t p = 0, t = 0;
    std::size_t star = std::string_view::npos, star_text = 0;
    while (t < text.size()) {
        bool matched = false;
        std::size_t next = p + 1;
        if (p < pattern.size()) {
            if (pattern[p] == '*') {
                star = p++;
                star_text = t;
                continue;
            }
            matched =
                pattern[p] == '?' || (pattern[p] == '[' ? match_bracket(pattern, p, text[t], next)
                                                        : pattern[p] == text[t]);
        }
        if (matched) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::string human_bytes(double bytes) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string human_time(double time_ns) {
    if (!std::isfinite(time_ns)) return "unknown";
    const double size = std::fabs(time_ns);
    if (size < 1e3) return fmt::format("{:.4g} ns", time_ns);
    if (size < 1e6) return fmt::format("{:.4g} µs", time_ns / 1e3);
    if (size < 1e9) return fmt::format("{:.4g} ms", time_ns / 1e6);
    return fmt::format("{:.4g} s", time_ns / 1e9);
}

std::string utc_now() {
    const auto now = std::chrono::system_clock::now();
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                       utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ms % 1000);
}

}  // namespace etalon
