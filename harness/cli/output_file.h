// Files that a command writes beside its output.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace etalon::cli {

// A file that appears whole or not at all: a reader sees the old text or the new, and a full disk
// leaves the old. A device or a pipe (/dev/stdout) is written to as it is. Each fault is a usage
// Error that names the file.
class OutputFile {
   public:
    explicit OutputFile(const std::string& path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();  // what was not committed is gone
    void write(std::string_view text);
    void commit();

   private:
    [[noreturn]] void fail() const;
    std::string path_, part_;  // the same where the file cannot be replaced
    std::FILE* file_ = nullptr;
};

void write_file(const std::string& path, std::string_view text);

// To standard output; an Error where it is full or gone.
void write_stdout(std::string_view text);

}  // namespace etalon::cli
