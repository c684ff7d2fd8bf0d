// Checks of numbers on the command line. CLI::Range would let NaN pass, and a limit that is NaN
// limits nothing.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace etalon::cli {

[[nodiscard]] CLI::Validator number_between(double lo, double hi);
[[nodiscard]] CLI::Validator whole_between(std::int64_t lo, std::int64_t hi);

}  // namespace etalon::cli
