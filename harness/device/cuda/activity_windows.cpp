#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/device/cuda/activity.h"

namespace etalon::cuda {
namespace {

constexpr std::string_view probe = "clock_probe_kernel";
constexpr std::uint64_t slack_ns = 64;  // two steps of the clock

bool is_probe(const Activity& activity) {
    return activity.name.find(probe) != std::string::npos;
}

[[noreturn]] void fail(const std::string& what) {
    throw device_error(fmt::format(
        "CUPTI's records do not fit the launches: {}; measure with --timer events", what));
}

void require_sane(const ActivityWindow& window, std::uint64_t before_ns, std::uint64_t after_ns,
                  std::span<const Activity> inside) {
    for (const Activity& activity : inside) {
        if (activity.end_ns < activity.start_ns) fail(activity.name + " ended before it began");
        if (activity.start_ns + slack_ns < before_ns || activity.end_ns > after_ns + slack_ns) {
            fail(activity.name + " ran outside of its window");
        }
    }
    if (!(window.span_ns > 0)) fail("a window of no time");
}

ActivityWindow window_of(std::span<const Activity> inside) {
    ActivityWindow window;
    std::uint64_t end_ns = inside.front().start_ns;
    for (const Activity& activity : inside) {  // in order of begin
        const std::uint64_t from = std::max(activity.start_ns, end_ns);
        if (activity.end_ns > from) window.busy_ns += static_cast<double>(activity.end_ns - from);
        end_ns = std::max(end_ns, activity.end_ns);
        window.names.push_back(activity.name);
    }
    window.span_ns = static_cast<double>(end_ns - inside.front().start_ns);
    return window;
}

}  // namespace

std::vector<ActivityWindow> cut_windows(std::vector<Activity> activities, std::size_t expected) {
    std::stable_sort(activities.begin(), activities.end(),
                     [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
    std::vector<std::size_t> probes;
    for (std::size_t i = 0; i < activities.size(); ++i) {
        if (is_probe(activities[i])) probes.push_back(i);
    }
    if (probes.size() != 2 * expected) {
        fail(fmt::format("{} clock probes were seen, {} were launched", probes.size(),
                         2 * expected));
    }
    std::vector<ActivityWindow> windows;
    for (std::size_t i = 0; i < probes.size(); i += 2) {
        const std::size_t first = probes[i] + 1, last = probes[i + 1];
        if (first == last) fail(fmt::format("launch {} left no kernel", i / 2 + 1));
        const std::span<const Activity> inside(&activities[first], last - first);
        windows.push_back(window_of(inside));
        require_sane(windows.back(), activities[probes[i]].end_ns, activities[last].start_ns,
                     inside);
        if (windows.back().names != windows.front().names) {
            fail(fmt::format("launch {} ran [{}], the first one [{}]", i / 2 + 1,
                             join(windows.back().names, ", "), join(windows.front().names, ", ")));
        }
    }
    return windows;
}

}  // namespace etalon::cuda
