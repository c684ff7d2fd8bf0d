#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/store/connection.h"

namespace etalon {

namespace {

int open_lock(const std::string& path, const std::string& database_path) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    throw usage_error(
        fmt::format("no file can be made beside '{}' ({}); choose another --db, or see to it that "
                    "its folder is there and writable",
                    database_path, std::strerror(errno)));
}

// Is what was locked still what the path names? A holder that ended has taken its file away.
bool is_current(int descriptor, const std::string& path) {
    struct stat locked {
    }, named{};
    return fstat(descriptor, &locked) == 0 && stat(path.c_str(), &named) == 0 &&
           locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

}  // namespace

SweepLock::SweepLock(const std::string& database_path)
    : path_(store::real_path(database_path) + ".sweep-lock") {
    for (;;) {
        descriptor_ = open_lock(path_, database_path);
        const bool free = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
        if (free && is_current(descriptor_, path_)) break;
        std::array<char, 64> holder{};
        const ssize_t size = free ? 0 : read(descriptor_, holder.data(), holder.size() - 1);
        close(std::exchange(descriptor_, -1));
        if (free) continue;
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
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

SweepLock::~SweepLock() {
    if (descriptor_ < 0) return;
    unlink(path_.c_str());  // while it is still held
    close(descriptor_);
}

}  // namespace etalon
