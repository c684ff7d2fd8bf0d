#include "harness/profile/nsight.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/core/error.h"
#include "harness/core/text.h"

namespace etalon::profile {
namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& file) {
    return fs::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
}

// /opt/nvidia/nsight-compute/2025.3.1/ncu; the latest release, by name.
std::optional<std::string> find_in_releases(const fs::path& folder, std::string_view file) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const fs::directory_entry& release : fs::directory_iterator(folder, none)) {
        for (const char* below : {"", "target-linux-x64", "bin"}) {
            const fs::path candidate = release.path() / below / file;
            if (can_run(candidate)) found.push_back(candidate);
        }
    }
    if (found.empty()) return std::nullopt;
    return std::max_element(found.begin(), found.end())->string();
}

std::vector<std::string> here(const Job& job) {
    return {job.program, "profile", job.case_id, "--here", "--device", job.device};
}

std::vector<std::string> ncu(const std::string& path, const Job& job) {
    return {path,
            "--nvtx",
            "--nvtx-include",
            fmt::format("etalon@{}/", range),
            "--clock-control",
            "none",
            "--cache-control",
            job.l2 == L2Mode::hot ? "none" : "all"};
}

std::vector<std::string> operator+(std::vector<std::string> all,
                                   const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

std::string_view name(Tool tool) {
    return tool == Tool::ncu ? "ncu" : "nsys";
}

Tool parse_tool(const std::string& text) {
    for (const Tool tool : {Tool::ncu, Tool::nsys}) {
        if (text == name(tool)) return tool;
    }
    throw usage_error(fmt::format("unknown profiler '{}'; known: ncu, nsys", text));
}

std::optional<std::string> find_tool(Tool tool) {
    const std::string_view file = name(tool);
    const char* path = std::getenv("PATH");
    for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
        if (!folder.empty() && can_run(fs::path(folder) / file)) {
            return (fs::path(folder) / file).string();
        }
    }
    if (can_run(fs::path("/usr/local/cuda/bin") / file)) {
        return (fs::path("/usr/local/cuda/bin") / file).string();
    }
    return find_in_releases(
        tool == Tool::ncu ? "/opt/nvidia/nsight-compute" : "/opt/nvidia/nsight-systems", file);
}

std::vector<std::string> report_command(Tool tool, const std::string& path, const Job& job,
                                        const std::string& out) {
    if (tool == Tool::ncu) {
        return ncu(path, job) +
               std::vector<std::string>{"--set", "full", "--force-overwrite", "--export", out} +
               here(job);
    }
    // The name of the range is not a registered string, which nsys must be told.
    return std::vector<std::string>{path,
                                    "profile",
                                    "--trace=cuda,nvtx",
                                    "--capture-range=nvtx",
                                    fmt::format("--nvtx-capture={}@etalon", range),
                                    "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0",
                                    "--force-overwrite=true",
                                    "--output",
                                    out} +
           here(job);
}

std::vector<std::string> counters_command(const std::string& path, const Job& job,
                                          const std::vector<std::string>& metrics) {
    return ncu(path, job) +
           std::vector<std::string>{"--csv",     "--page",          "raw", "--print-units", "base",
                                    "--metrics", join(metrics, ",")} +
           here(job);
}

std::string shell_line(const std::vector<std::string>& command) {
    std::vector<std::string> quoted;
    for (const std::string& word : command) {
        constexpr std::string_view plain =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            quoted.push_back(word);
            continue;
        }
        std::string text = "'";
        for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        quoted.push_back(text + "'");
    }
    return join(quoted, " ");
}

Ended run(const std::vector<std::string>& command) {
    std::fflush(nullptr);
    FILE* pipe = popen(shell_line(command).c_str(), "r");
    if (pipe == nullptr) {
        throw device_error(fmt::format("'{}' cannot be started", command.front()));
    }
    Ended ended;
    std::array<char, 1 << 14> part{};
    while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe)) {
        ended.out.append(part.data(), read);
    }
    const int status = pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
}

}  // namespace etalon::profile
