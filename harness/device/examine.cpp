// What doctor finds on this machine, apart from the libraries.

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/device/device.h"
#include "harness/device/host/host_clock.h"
#include "harness/device/host/machine.h"
#ifdef ETALON_CUDA
#include "harness/device/cuda/examine_gpu.h"
#endif

namespace etalon {
namespace {

using Level = Finding::Level;

void examine_host(std::vector<Finding>& findings) {
    const host::Machine machine = host::read_machine();
    findings.push_back(
        {Level::good, "CPU", fmt::format("{}, {} cores", machine.cpu, machine.cores), "", ""});
    findings.push_back({Level::good, "operating system", machine.os, "", ""});
    findings.push_back(
        {Level::good, "memory", human_bytes(static_cast<double>(machine.memory_bytes)), "", ""});
    if (!machine.governor) {
        findings.push_back({Level::note, "CPU governor", "not readable (virtual machine?)",
                            "the CPU's clock can move without a word", ""});
    } else if (*machine.governor != "performance") {
        findings.push_back({Level::warning, "CPU governor", *machine.governor,
                            "host times move with the clock, and launches start late",
                            "cpupower frequency-set -g performance"});
    } else {
        findings.push_back({Level::good, "CPU governor", *machine.governor, "", ""});
    }
    double lo = 1e9, hi = 0;
    for (int i = 0; i < 50; ++i) {
        const double mhz = host::effective_clock_mhz(50);
        lo = std::min(lo, mhz);
        hi = std::max(hi, mhz);
    }
    const bool steady = hi < 1.05 * lo;
    findings.push_back({steady ? Level::good : Level::note, "CPU clock",
                        fmt::format("{:.0f} to {:.0f} MHz over 50 looks", lo, hi),
                        steady ? "" : "single host samples scatter; medians are taken",
                        steady ? "" : "leave the machine idle while it measures"});
    const bool busy = machine.load_average > 0.5 * machine.cores;
    findings.push_back({busy ? Level::warning : Level::good, "load",
                        fmt::format("{:.2f} over the last minute", machine.load_average),
                        busy ? "other work shares the caches and delays launches" : "",
                        busy ? "stop it, or measure later" : ""});
}

}  // namespace

std::vector<Finding> examine_machine() {
    std::vector<Finding> findings;
#ifdef ETALON_CUDA
    cuda::examine_gpus(findings);
#else
    findings.push_back({Level::note, "GPU", "this program was built without CUDA",
                        "only the CPU is measured", "build with the CUDA toolkit 13"});
#endif
    examine_host(findings);
    return findings;
}

}  // namespace etalon
