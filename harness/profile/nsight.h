// NVIDIA's profilers as programs: where they are, and how one launch of a case is put under them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/case.h"

namespace etalon::profile {

enum class Tool {
    ncu,  // Nsight Compute: counters of each kernel
    nsys  // Nsight Systems: a timeline
};
[[nodiscard]] std::string_view name(Tool tool);
// Throws a usage Error for another name.
[[nodiscard]] Tool parse_tool(const std::string& name);

// The range, in NVTX domain "etalon", that holds the one launch that counts.
inline constexpr const char* range = "profile";

// On $PATH, else where CUDA's packages put it.
[[nodiscard]] std::optional<std::string> find_tool(Tool tool);

struct Job {
    std::string program;  // this very program
    std::string case_id;
    std::string device;  // cuda:N
    L2Mode l2 = L2Mode::cold;
};

// `program profile CASE --here` under a tool, so that it records the range and nothing else. The
// clocks are left as they are; Nsight Compute empties the caches itself, unless the case is hot.
[[nodiscard]] std::vector<std::string> report_command(Tool tool, const std::string& path,
                                                      const Job& job, const std::string& out);
// These metrics of each kernel, as CSV on stdout.
[[nodiscard]] std::vector<std::string> counters_command(const std::string& path, const Job& job,
                                                        const std::vector<std::string>& metrics);

// Quoted where a shell would split or expand it.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& command);

struct Ended {
    int code = 0;
    std::string out;
};
// Runs it with this process's environment and collects its stdout; its stderr is ours. A program
// that a signal ended has code 128 + signal. Throws a device Error when it cannot be started.
[[nodiscard]] Ended run(const std::vector<std::string>& command);

}  // namespace etalon::profile
