#include "harness/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "harness/core/text.h"
#include "harness/stats/modes.h"

namespace etalon::cli {
namespace {

std::string clock_text(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole >= 3600) {
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    }
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

// A log that cannot be written, on a full disk say, must not end the sweep as fmt::print would.
void tell(const std::string& text) {
    std::fputs(text.c_str(), stderr);
}

std::size_t terminal_width() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

std::string outcome(const Measurement& m) {
    if (m.status != Status::ok) return fmt::format("{}: {}", name(m.status), m.reason);
    const Estimate& time = *m.norm_time_ns;
    std::string text = fmt::format("{} ±{:.2f} %", human_time(time.value),
                                   100 * (time.hi - time.lo) / 2 / time.value);
    if (m.clock_mhz > 0) text += fmt::format(", {:.0f} MHz", m.clock_mhz);
    return text + stats::modes_text(m.modes);
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const SweepEvent& event) {
    if (quiet_) return;
    if (event.measurement != nullptr) line(event);
    if (terminal_) bar(event);
}

void Progress::line(const SweepEvent& event) const {
    const Measurement& m = *event.measurement;
    if (terminal_) {
        // On a terminal only what needs a person stays on the screen.
        if (m.status == Status::ok || m.status == Status::unsupported) return;
        tell(fmt::format("\r\x1b[K{}  {}\n", m.key.id(), outcome(m)));
        return;
    }
    tell(fmt::format("[{}/{}] {}  {}\n", event.done, event.total, m.key.id(), outcome(m)));
}

void Progress::bar(const SweepEvent& event) const {
    constexpr std::size_t cells = 20;
    const std::size_t full = event.total > 0 ? cells * event.done / event.total : cells;
    std::string text;
    for (std::size_t i = 0; i < cells; ++i) text += i < full ? "█" : "░";
    std::string rest = fmt::format(" {}/{}  ETA {}  {}", event.done, event.total,
                                   clock_text(event.eta_s), event.next);
    const std::size_t room = terminal_width() - cells - 1;
    if (rest.size() > room) rest.resize(room);
    tell(fmt::format("\r\x1b[K{}{}", text, rest));
    std::fflush(stderr);
}

void Progress::end() {
    if (!quiet_ && terminal_) tell("\r\x1b[K");
}

}  // namespace etalon::cli
