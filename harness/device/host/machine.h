// What the operating system says about this machine. Missing facts are empty or 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace etalon::host {

struct Machine {
    std::string cpu;  // "AMD EPYC 9B45"
    int cores = 1;    // this process may use
    std::size_t memory_bytes = 0;
    std::size_t last_level_cache_bytes = 0;
    std::string os;  // "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
    std::string host_name;
    std::optional<std::string> governor;  // cpufreq, where there is one
    std::optional<double> max_clock_mhz;
    double load_average = 0;  // last minute
};
[[nodiscard]] Machine read_machine();

// Memory that can be had without swapping: the least of MemAvailable and what the cgroup leaves.
[[nodiscard]] std::size_t available_memory_bytes();

// First line of a file, trimmed; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> read_line(const std::string& path);

}  // namespace etalon::host
