// For tests and benchmarks: a folder that goes away, and a seed that can be asked for again.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

namespace etalon {

// A folder that is made now and removed with all it holds.
class TemporaryFolder {
   public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "etalon_XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) fail(name);
        at_ = name;
        // A test that gives up root's rights must still reach it.
        std::filesystem::permissions(at_, std::filesystem::perms(0755));
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(at_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] std::string path(const std::string& name) const { return (at_ / name).string(); }
    [[nodiscard]] const std::filesystem::path& at() const { return at_; }
    // Writes a file of this text and returns its path.
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream file(path(name), std::ios::binary);
        file << text;
        if (!file.flush()) fail(path(name));
        return path(name);
    }
    // Names of the files there, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const std::filesystem::directory_entry& entry :
             std::filesystem::directory_iterator(at_)) {
            all.push_back(entry.path().filename().string());
        }
        std::sort(all.begin(), all.end());
        return all;
    }

   private:
    [[noreturn]] static void fail(const std::string& what) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    std::filesystem::path at_;
};

// Empty where there is no such file.
[[nodiscard]] inline std::string read_file(const std::string& path) {
    if (!std::filesystem::is_regular_file(path)) return "";
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A new seed every time: set ETALON_TEST_SEED to the one that is printed to see a failure again.
[[nodiscard]] inline std::uint64_t fresh_seed() {
    const char* chosen = std::getenv("ETALON_TEST_SEED");
    const std::uint64_t seed =
        chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : std::random_device()();
    std::printf("ETALON_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return seed;
}

}  // namespace etalon
