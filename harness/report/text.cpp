#include "harness/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace etalon::report {

std::string significant(double value, int digits) {
    if (!std::isfinite(value)) return "-";
    if (value == 0) return "0";
    // Rounded by the scientific form first, so that 9999.6 becomes 10000 and not 1e+04.
    const std::string scientific = fmt::format("{:.{}e}", value, digits - 1);
    const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
    if (exponent < -9 || exponent > 12) return scientific;
    const int decimals = digits - 1 - exponent;
    if (decimals >= 0) return fmt::format("{:.{}f}", value, decimals);
    const double unit = std::pow(10.0, -decimals);
    return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string time_text(double time_ns) {
    if (!(std::isfinite(time_ns) && time_ns > 0)) return "-";
    if (time_ns < 999.95) return significant(time_ns) + " ns";
    if (time_ns < 999.95e3) return significant(time_ns / 1e3) + " µs";
    if (time_ns < 999.95e6) return significant(time_ns / 1e6) + " ms";
    return significant(time_ns / 1e9) + " s";
}

namespace {

std::string signed_percent(double ratio) {
    const double percent = 100 * (ratio - 1);
    if (!std::isfinite(percent)) return "-";
    return fmt::format("{:+.{}f}", percent, std::fabs(percent) < 9.995 ? 2 : 1);
}

}  // namespace

std::string percent_change(double ratio) {
    return signed_percent(ratio) + " %";
}

std::string percent_change(const Estimate& ratio) {
    return fmt::format("{} % ({} to {})", signed_percent(ratio.value), signed_percent(ratio.lo),
                       signed_percent(ratio.hi));
}

std::string ratio_text(const Estimate& ratio) {
    return fmt::format("{} ({} to {})", significant(ratio.value), significant(ratio.lo),
                       significant(ratio.hi));
}

std::string tflops_text(double flop, double time_ns) {
    if (!(flop > 0 && time_ns > 0)) return "-";
    return significant(flop / time_ns / 1e3) + " TFLOP/s";
}

std::string gbs_text(double bytes, double time_ns) {
    if (!(bytes > 0 && time_ns > 0)) return "-";
    return significant(bytes / time_ns) + " GB/s";
}

std::string minute(std::string_view iso8601) {
    std::string text(iso8601.substr(0, 16));
    std::replace(text.begin(), text.end(), 'T', ' ');
    return text;
}

std::string valid_utf8(std::string_view text) {
    const bool ascii = std::all_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (ascii) return std::string(text);
    const nlohmann::json quoted = std::string(text);  // whose writer replaces what is none
    return nlohmann::json::parse(
               quoted.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
        .get<std::string>();
}

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : valid_utf8(text)) {
        if (std::string_view("|<>`*[\\").find(c) != std::string_view::npos) out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out.empty() ? "-" : out;
}

std::string code(std::string_view text, bool in_table) {
    // A fence longer than any run of backticks in the text; blanks keep the two apart.
    std::size_t run = 0, longest = 0;
    std::string inner;
    for (const char c : valid_utf8(text)) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
        if (c == '|' && in_table) inner += '\\';
        inner += c == '\n' || c == '\r' ? ' ' : c;
    }
    const std::string fence(longest + 1, '`');
    const std::string blank = longest > 0 ? " " : "";
    return fence + blank + inner + blank + fence;
}

std::string csv_field(std::string_view text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
    std::string out = formula ? "'" : "";
    for (const char c : valid_utf8(text)) {
        if (c == '"') out += '"';
        out += c;
    }
    return out.find_first_of(",\"\r\n") == std::string::npos ? out : '"' + out + '"';
}

nlohmann::json number(double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json number(const std::optional<double>& value) {
    return value ? number(*value) : nlohmann::json(nullptr);
}

nlohmann::json interval(const std::optional<Estimate>& estimate) {
    if (!estimate) return nullptr;
    return {{"value", number(estimate->value)},
            {"lo", number(estimate->lo)},
            {"hi", number(estimate->hi)}};
}

std::string dump(const nlohmann::json& value) {
    return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace etalon::report
