// What ran on the GPU and when, from CUPTI's activity records: kernels, copies and memory sets,
// each with the device's own time of begin and end.
//
// CUPTI is opened at run time. Where it is missing or another profiler (compute-sanitizer, Nsight)
// holds it, missing() says why and the caller times by events.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace etalon::cuda {

struct Activity {
    std::uint64_t start_ns = 0, end_ns = 0;  // of CUPTI's clock
    std::string name;                        // as the compiler mangled it; "memcpy", "memset"
};

// One timed launch as it was seen: from the first begin to the last end, and the time in which
// something of it ran.
struct ActivityWindow {
    double span_ns = 0, busy_ns = 0;
    std::vector<std::string> names;  // in order of begin
};

// Cuts a stream's activities at its clock probes: what began between an odd probe and the next is
// one window. `activities` in any order. Throws a device Error unless there are `expected` windows,
// none is empty, each holds the same kernels, and nothing ran longer than its window or backwards.
[[nodiscard]] std::vector<ActivityWindow> cut_windows(std::vector<Activity> activities,
                                                      std::size_t expected);

// Records from construction to destruction. One at a time in a process: CUPTI's callbacks have no
// place for more.
class ActivityRecorder {
   public:
    ActivityRecorder();
    ~ActivityRecorder();
    ActivityRecorder(const ActivityRecorder&) = delete;
    ActivityRecorder& operator=(const ActivityRecorder&) = delete;

    // Empty when recording.
    [[nodiscard]] const std::string& missing() const { return missing_; }
    // What has ended since the last call; the device is idle. Throws a device Error where CUPTI
    // dropped records.
    [[nodiscard]] std::vector<Activity> take();

   private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::string missing_;
};

}  // namespace etalon::cuda
