#include "harness/cost/data_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "harness/core/error.h"

namespace etalon::cost {

namespace fs = std::filesystem;

std::vector<fs::path> data_folders() {
    std::vector<fs::path> folders;
    if (const char* chosen = std::getenv("ETALON_RESULTS"); chosen != nullptr && *chosen != '\0') {
        folders.emplace_back(chosen);
    }
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        folders.push_back(program.parent_path() / "results");
        folders.push_back(program.parent_path().parent_path() / "share/etalon/results");
    }
    folders.emplace_back(ETALON_SOURCE_RESULTS);
    return folders;
}

fs::path find_data_file(const std::string& relative) {
    std::error_code error;
    for (const fs::path& folder : data_folders()) {
        if (fs::is_regular_file(folder / relative, error)) return folder / relative;
    }
    throw usage_error(fmt::format(
        "results/{} is not beside the program; set $ETALON_RESULTS to the folder that has it",
        relative));
}

std::string read_text(const fs::path& path) {
    std::error_code error;
    std::ifstream file(path, std::ios::binary);
    if (!fs::is_regular_file(path, error) || !file) {
        throw usage_error(
            fmt::format("cannot read '{}'; is it a file that you may read?", path.string()));
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace etalon::cost
