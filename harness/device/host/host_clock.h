// Effective core clock from a chain of dependent additions: one cycle each on every x86-64 and
// AArch64 core of the last two decades, so cycles are known and only time is measured.
#pragma once

#include <cstdint>

namespace etalon::host {

// Mean clock over about `microseconds` of additions, MHz.
[[nodiscard]] double effective_clock_mhz(double microseconds = 10);

// 64 additions for each unit, one after another.
void add_chain(std::int64_t units);

}  // namespace etalon::host
