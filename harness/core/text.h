// Small text helpers shared by every message that a person reads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etalon {

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string trim(std::string_view text);
// Line breaks become blanks.
[[nodiscard]] std::string one_line(std::string text);

// The candidate with the least Damerau-Levenshtein distance, if it is near enough to be a typing
// slip (at most a third of the length, at least one).
[[nodiscard]] std::optional<std::string> nearest(std::string_view text,
                                                 std::span<const std::string> candidates);

// "unknown WHAT 'TEXT'; did you mean 'NEAREST'? known: a, b, c"
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view text,
                                       std::span<const std::string> candidates);

// Shell-style glob over a whole string: *, ?, [abc], [a-z], [!abc]. '*' crosses '/'.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

// 1536 → "1.5 KiB"; 12345.6 ns → "12.35 µs".
[[nodiscard]] std::string human_bytes(double bytes);
[[nodiscard]] std::string human_time(double time_ns);

// 2026-12-01T17:04:05.123Z in UTC.
[[nodiscard]] std::string utc_now();

}  // namespace etalon
