#include "harness/device/host/host_clock.h"

#include <chrono>
#include <cstdint>

namespace etalon::host {
namespace {

constexpr std::int64_t chain = 64;

// `rounds` × 64 additions, each waiting for the one before; the empty assembly keeps the compiler
// from folding them.
std::uint64_t dependent_additions(std::int64_t rounds, std::uint64_t value) {
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 64
        for (std::int64_t i = 0; i < chain; ++i) {
            value += 3;
            asm volatile("" : "+r"(value));
        }
    }
    return value;
}

}  // namespace

double effective_clock_mhz(double microseconds) {
    using clock = std::chrono::steady_clock;
    // At 4 GHz 64 additions take 16 ns; the count only sets how long we look.
    const auto rounds = static_cast<std::int64_t>(microseconds * 1000 / 16) + 1;
    volatile std::uint64_t seed = 1;
    const auto start = clock::now();
    seed = dependent_additions(rounds, seed);
    const auto stop = clock::now();
    const double elapsed_ns = std::chrono::duration<double, std::nano>(stop - start).count();
    return static_cast<double>(rounds * chain) / elapsed_ns * 1000;
}

void add_chain(std::int64_t units) {
    volatile std::uint64_t seed = 1;
    seed = dependent_additions(units, seed);
}

}  // namespace etalon::host
