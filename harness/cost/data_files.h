// Files that ship with the program: model shapes, prices, cards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace etalon::cost {

// Where results/ is looked for, first match wins: $ETALON_RESULTS, `results` beside the program,
// share/etalon/results of an installation, the source tree.
[[nodiscard]] std::vector<std::filesystem::path> data_folders();
// Throws a usage Error that names the file and the variable.
[[nodiscard]] std::filesystem::path find_data_file(const std::string& relative);
// The whole file. Throws a usage Error where it cannot be read.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace etalon::cost
