// Files that a command writes beside its output.
#pragma once

#include <string>

namespace etalon::cli {

// Replaces the file in one step: a reader sees the old text or the new, and a full disk leaves the
// old. Throws a usage Error that names the file.
void write_file(const std::string& path, const std::string& text);

}  // namespace etalon::cli
