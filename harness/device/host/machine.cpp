#include "harness/device/host/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "harness/core/text.h"

namespace etalon::host {
namespace {

std::optional<std::uint64_t> number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return std::nullopt;
    (void)end;
    return value;
}

// The value after "key:" of a /proc file, "key=" of os-release.
std::string value_of(const std::string& path, const std::string& key, char separator) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t at = line.find(separator);
        if (at == std::string::npos || trim(line.substr(0, at)) != key) continue;
        std::string value = trim(line.substr(at + 1));
        if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
        return value;
    }
    return "";
}

std::size_t cache_bytes() {
    std::size_t largest = 0;
    for (int index = 0; index < 8; ++index) {
        const auto size =
            read_line(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
        if (!size) break;
        const std::uint64_t unit = size->ends_with('M') ? 1 << 20 : size->ends_with('K') ? 1024 : 1;
        largest = std::max(largest, static_cast<std::size_t>(number(*size).value_or(0) * unit));
    }
    if (largest == 0) {
        largest = static_cast<std::size_t>(std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE)));
    }
    return largest;
}

}  // namespace

std::optional<std::string> read_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) return std::nullopt;
    return trim(line);
}

Machine read_machine() {
    Machine machine;
    machine.cpu = value_of("/proc/cpuinfo", "model name", ':');
    if (machine.cpu.empty()) machine.cpu = value_of("/proc/cpuinfo", "CPU part", ':');
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    machine.cores = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    machine.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    machine.last_level_cache_bytes = cache_bytes();
    utsname kernel{};
    uname(&kernel);
    machine.os = fmt::format("{}, {} {}", value_of("/etc/os-release", "PRETTY_NAME", '='),
                             kernel.sysname, kernel.release);
    machine.host_name = kernel.nodename;
    machine.governor = read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (const auto khz = read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
        if (const auto value = number(*khz)) {
            machine.max_clock_mhz = static_cast<double>(*value) / 1000;
        }
    }
    double load[1] = {0};
    if (getloadavg(load, 1) == 1) machine.load_average = load[0];
    return machine;
}

std::size_t available_memory_bytes() {
    std::size_t available = 0;
    const std::string text = value_of("/proc/meminfo", "MemAvailable", ':');
    if (const auto kib = number(text)) available = *kib * 1024;
    const auto limit = read_line("/sys/fs/cgroup/memory.max");
    const auto used = read_line("/sys/fs/cgroup/memory.current");
    if (limit && used && number(*limit) && number(*used)) {
        const std::uint64_t most = *number(*limit), now = *number(*used);
        available = std::min<std::size_t>(available, most > now ? most - now : 0);
    }
    return available;
}

}  // namespace etalon::host
