// What Nsight Compute's counters say of a case: how busy the SMs and their tensor cores were while
// nvidia-smi showed 100 %.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::profile {

// Of all kernels of one launch; shares are means over their time. Empty: this device has no such
// counter.
struct Counters {
    std::vector<std::string> kernels;
    double duration_ns = 0;               // sum, under the profiler: its clocks are not ours
    std::optional<double> sm_active;      // share of SM cycles with a warp on the SM
    std::optional<double> tensor_active;  // share of SM cycles in which tensor cores worked
    std::optional<double> dram_bytes;     // read and written
    std::optional<double> dram_share;     // of the memory's peak
    std::optional<double> occupancy;      // resident warps of the most possible, on active SMs
};

// Those to ask for, of what `ncu --query-metrics` lists. Names differ between architectures; where
// several would do, the first that is there.
[[nodiscard]] std::vector<std::string> choose_metrics(std::string_view listing);

// Of ncu's raw page as CSV, base units, with its own lines around it. Throws a device Error where
// it holds no kernel, with what ncu said instead.
[[nodiscard]] Counters parse_counters(std::string_view output);

}  // namespace etalon::profile
