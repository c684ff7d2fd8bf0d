#include "harness/cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/core/error.h"

namespace etalon::cli {

void write_file(const std::string& path, const std::string& text) {
    // A device or a pipe (/dev/stdout) cannot be replaced.
    std::error_code ignored;
    const bool replace =
        !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
    const std::string part = replace ? fmt::format("{}.{}.part", path, getpid()) : path;
    errno = 0;
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    bool written = !file.fail();
    if (written && replace) written = std::rename(part.c_str(), path.c_str()) == 0;
    if (written) return;
    const int cause = errno;
    if (replace) std::filesystem::remove(part, ignored);
    throw usage_error(fmt::format("cannot write '{}': {}", path,
                                  cause != 0 ? std::strerror(cause) : "the disk may be full"));
}

}  // namespace etalon::cli
