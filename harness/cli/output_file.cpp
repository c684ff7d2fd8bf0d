#include "harness/cli/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harness/core/error.h"

namespace etalon::cli {

OutputFile::OutputFile(const std::string& path) : path_(path), part_(path) {
    std::error_code ignored;
    const bool replace =
        !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
    if (replace) part_ = fmt::format("{}.{}.part", path, getpid());
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr) fail();
}

OutputFile::~OutputFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::error_code ignored;
    if (part_ != path_) std::filesystem::remove(part_, ignored);
}

void OutputFile::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputFile::commit() {
    if (std::fflush(file_) != 0) fail();
    if (part_ != path_ && std::rename(part_.c_str(), path_.c_str()) != 0) fail();
    std::fclose(file_);
    file_ = nullptr;
}

void OutputFile::fail() const {
    const int cause = errno;
    const std::string what = fmt::format("cannot write '{}': {}", path_, std::strerror(cause));
    const bool disk = cause == ENOSPC || cause == EIO || cause == EDQUOT;
    throw disk ? device_error(what) : usage_error(what);
}

void write_file(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
}

void write_stdout(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        throw device_error(
            fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
}

}  // namespace etalon::cli
