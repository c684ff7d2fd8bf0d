#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/store/connection.h"

namespace etalon {

SweepLock::SweepLock(const std::string& database_path) {
    const std::string path = store::real_path(database_path) + ".sweep-lock";
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        throw usage_error(fmt::format(
            "'{}' cannot be written; check that its folder is there and writable", path));
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        std::array<char, 64> holder{};
        const ssize_t size = read(descriptor_, holder.data(), holder.size() - 1);
        close(descriptor_);
        descriptor_ = -1;
        throw usage_error(fmt::format(
            "another sweep (process {}) writes into '{}'; wait for it, or choose another --db",
            size > 0 ? trim(holder.data()) : "unknown", database_path));
    }
    const std::string self = fmt::format("{}\n", getpid());
    if (ftruncate(descriptor_, 0) != 0 || write(descriptor_, self.data(), self.size()) < 0) {
        // Only the message of the other sweep suffers.
    }
}

SweepLock::SweepLock(SweepLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

SweepLock::~SweepLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace etalon
