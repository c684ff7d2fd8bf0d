// Ctrl-C and SIGTERM: the first asks for a clean stop, the second ends the program.
#pragma once

#include <atomic>

namespace etalon::cli {

class Interrupt {
   public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    [[nodiscard]] const std::atomic<bool>& requested() const;
};

}  // namespace etalon::cli
