// The one exception type of etalon and the exit codes of its programs.
//
// An Error carries one line that names the thing and the mend. It is thrown where the fault is
// seen and caught in two places only: around a case (the sweep records it and goes on) and around
// a command (harness/cli prints it and exits with its code).
#pragma once

#include <stdexcept>
#include <string>

namespace etalon {

// Exit codes are a contract with CI jobs; they are never a count.
enum class ExitCode : int {
    ok = 0,
    regression = 1,     // a regression or an incorrect result is confirmed
    usage = 2,          // bad usage or input
    undecided = 3,      // too few samples, too noisy, missing baseline
    device_failure = 4  // measurement or device failure
};

class Error : public std::runtime_error {
   public:
    Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    [[nodiscard]] ExitCode code() const noexcept { return code_; }

   private:
    ExitCode code_;
};

[[nodiscard]] inline Error usage_error(const std::string& message) {
    return Error(ExitCode::usage, message);
}
[[nodiscard]] inline Error device_error(const std::string& message) {
    return Error(ExitCode::device_failure, message);
}

// Thrown when a device allocation does not fit; the case is stored as `failed` with this reason.
class OutOfMemory : public Error {
   public:
    explicit OutOfMemory(const std::string& message) : Error(ExitCode::device_failure, message) {}
};

}  // namespace etalon
