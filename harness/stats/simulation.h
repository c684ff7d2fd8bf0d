// Random draws for tests and benchmarks: the same on every machine, because only the engine is
// the library's.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace etalon::stats {

class Simulation {
   public:
    explicit Simulation(std::uint64_t seed) : engine_(seed) {}

    // In (0, 1), 53 bits.
    double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    // Standard normal (Box & Muller 1958; the second value is not kept).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    std::vector<double> normals(std::size_t n, double mean = 0, double sigma = 1) {
        std::vector<double> values(n);
        for (double& value : values) value = mean + sigma * normal();
        return values;
    }

   private:
    std::mt19937_64 engine_;
};

}  // namespace etalon::stats
