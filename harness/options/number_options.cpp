#include "harness/options/number_options.h"

#include <fmt/format.h>

#include <charconv>

namespace etalon::cli {
namespace {

template <typename T>
CLI::Validator between(T lo, T hi, const char* kind, const std::string& range) {
    return {[=](std::string& text) -> std::string {
                T value{};
                const char* last = text.data() + text.size();
                const auto [end, error] = std::from_chars(text.data(), last, value);
                const bool fine = error == std::errc{} && end == last && lo <= value && value <= hi;
                return fine ? "" : fmt::format("'{}' is not a {} from {}", text, kind, range);
            },
            range, ""};
}

}  // namespace

CLI::Validator number_between(double lo, double hi) {
    return between(lo, hi, "number", fmt::format("{:g} to {:g}", lo, hi));
}

CLI::Validator whole_between(std::int64_t lo, std::int64_t hi) {
    return between(lo, hi, "whole number", fmt::format("{} to {}", lo, hi));
}

}  // namespace etalon::cli
