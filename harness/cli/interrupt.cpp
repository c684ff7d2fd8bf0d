#include "harness/cli/interrupt.h"

#include <csignal>

namespace etalon::cli {
namespace {

// A signal handler reaches nothing but this.
std::atomic<bool> stop_requested = false;

void on_signal(int signal) {
    stop_requested = true;
    std::signal(signal, SIG_DFL);
}

}  // namespace

Interrupt::Interrupt() {
    stop_requested = false;
    std::signal(SIGINT, on_signal);
    std::signal(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& Interrupt::requested() const {
    return stop_requested;
}

}  // namespace etalon::cli
