#include "harness/device/cuda/timing.h"

#include <algorithm>

namespace etalon::cuda {
namespace {

// Longer than the CPU takes to enqueue one window and one launch of a few kernels.
constexpr std::uint64_t spin_ns = 40'000;

double elapsed_ns(cudaEvent_t from, cudaEvent_t to) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from, to), "reading an event pair");
    return static_cast<double>(milliseconds) * 1e6;
}

}  // namespace

double effective_clock_mhz(std::span<const kernels::ClockReading> before,
                           std::span<const kernels::ClockReading> after) {
    std::vector<double> clocks;
    for (std::size_t sm = 0; sm < before.size(); ++sm) {
        const bool read = before[sm].time_ns != 0 && after[sm].time_ns > before[sm].time_ns &&
                          after[sm].cycles > before[sm].cycles;
        if (!read) continue;
        clocks.push_back(static_cast<double>(after[sm].cycles - before[sm].cycles) /
                         static_cast<double>(after[sm].time_ns - before[sm].time_ns) * 1000);
    }
    if (clocks.empty()) return 0;
    const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
    std::nth_element(clocks.begin(), middle, clocks.end());
    return *middle;
}

Timing::Timing(Device& device, cudaStream_t stream, int sm_count, std::size_t flush_bytes,
               Timer timer)
    : device_(device),
      stream_(stream),
      sm_count_(static_cast<std::size_t>(sm_count)),
      flush_(device.allocate(flush_bytes)) {
    if (timer != Timer::events) {
        recorder_.emplace();
        no_cupti_ = recorder_->missing();
        if (!no_cupti_.empty()) recorder_.reset();
        if (!recorder_ && timer == Timer::cupti) throw device_error(no_cupti_);
    }
    // Modules load lazily, and a load waits for the device to be idle: everything that is enqueued
    // around a window runs once before the first spin waits for the CPU.
    reserve(1);
    check(kernels::flush(flush_.data(), flush_.bytes(), stream_), "flushing L2");
    check(kernels::spin(1000, stream_), "the spin kernel");
    check(kernels::clock_probe(readings(0, 0), stream_), "the clock probe");
    device_.synchronize();
}

kernels::ClockReading* Timing::readings(int sample, int side) {
    return readings_.as<kernels::ClockReading>() +
           (static_cast<std::size_t>(sample) * 2 + static_cast<std::size_t>(side)) * sm_count_;
}

void Timing::reserve(int samples) {
    const std::size_t bytes =
        static_cast<std::size_t>(samples) * 2 * sm_count_ * sizeof(kernels::ClockReading);
    if (readings_.bytes() < bytes) readings_ = device_.allocate(bytes);
    while (windows_.size() < static_cast<std::size_t>(samples)) {
        windows_.push_back({make_event(), make_event()});
    }
    // An SM that gets no block of a probe keeps its zero and is left out.
    check(cudaMemsetAsync(readings_.data(), 0, readings_.bytes(), stream_), "clearing the probe");
}

void Timing::enqueue(const Launch& launch, const BlockSpec& spec, int index) {
    const Stream stream{stream_};
    const bool hot = spec.l2 == L2Mode::hot;
    if (spec.heated) heater().enqueue();
    // Hot means that this very set was just used, so sets do not rotate.
    const std::size_t set = hot ? 0 : static_cast<std::size_t>(index) % spec.sets;
    if (hot) {
        launch(stream, set);
    } else {
        check(kernels::flush(flush_.data(), flush_.bytes(), stream_), "flushing L2");
    }
    const Window& window = windows_[static_cast<std::size_t>(index)];
    check(kernels::spin(spin_ns, stream_), "the spin kernel");
    check(kernels::clock_probe(readings(index, 0), stream_), "the clock probe");
    if (!recorder_) check(cudaEventRecord(window.start.get(), stream_), "recording an event");
    launch(stream, set);
    if (!recorder_) check(cudaEventRecord(window.stop.get(), stream_), "recording an event");
    check(kernels::clock_probe(readings(index, 1), stream_), "the clock probe");
}

Heater& Timing::heater() {
    if (!heater_) heater_.emplace(device_, stream_);
    return *heater_;
}

void Timing::heat(double milliseconds) {
    heater().run(milliseconds);
}

std::vector<Activity> Timing::take_activities() {
    std::vector<Activity> activities = recorder_->take();
    for (const Activity& activity : activities) {
        if (activity.name.find("spin") != std::string::npos) continue;  // waits for the CPU
        busy_ns_ += static_cast<double>(activity.end_ns - activity.start_ns);
    }
    return activities;
}

double Timing::busy_ns() {
    if (recorder_) take_activities();
    return busy_ns_;
}

std::vector<double> Timing::durations_ns(int samples) {
    std::vector<double> durations;
    if (recorder_) {
        for (const ActivityWindow& window :
             cut_windows(take_activities(), static_cast<std::size_t>(samples))) {
            durations.push_back(window.span_ns);
        }
        return durations;
    }
    for (int i = 0; i < samples; ++i) {
        const Window& window = windows_[static_cast<std::size_t>(i)];
        durations.push_back(elapsed_ns(window.start.get(), window.stop.get()));
    }
    return durations;
}

std::vector<Sample> Timing::run(const Launch& launch, const BlockSpec& spec) {
    reserve(spec.samples);
    if (spec.heated) (void)heater();   // made before the spin waits for the CPU
    if (recorder_) take_activities();  // of checks and other blocks
    for (int i = 0; i < spec.warmups; ++i) {
        launch({stream_}, static_cast<std::size_t>(i) % spec.sets);
    }
    for (int i = 0; i < spec.samples; ++i) enqueue(launch, spec, i);
    device_.synchronize();
    const std::vector<double> durations = durations_ns(spec.samples);

    std::vector<kernels::ClockReading> read(static_cast<std::size_t>(spec.samples) * 2 * sm_count_);
    device_.download(std::as_writable_bytes(std::span(read)), readings_);
    std::vector<Sample> samples;
    for (int i = 0; i < spec.samples; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * 2 * sm_count_;
        const std::span<const kernels::ClockReading> all(read);
        samples.push_back({durations[static_cast<std::size_t>(i)],
                           effective_clock_mhz(all.subspan(at, sm_count_),
                                               all.subspan(at + sm_count_, sm_count_))});
    }
    return samples;
}

Device::TimerFloor Timing::floor() {
    // A window around nothing leaves CUPTI without a record, so its floor is 0; its step is seen in
    // the times of a kernel that does nothing.
    const Launch nothing = [this](Stream, std::size_t) {
        if (recorder_) check(kernels::spin(0, stream_), "the spin kernel");
    };
    const std::vector<Sample> samples = run(nothing, {.l2 = L2Mode::hot, .samples = 101});
    std::vector<double> windows;
    for (const Sample& sample : samples) windows.push_back(sample.duration_ns);
    std::sort(windows.begin(), windows.end());
    Device::TimerFloor floor;
    floor.floor_ns = recorder_ ? 0 : windows[windows.size() / 2];
    for (std::size_t i = 1; i < windows.size(); ++i) {
        const double step = windows[i] - windows[i - 1];
        // Steps under a nanosecond are the rounding of the float that events are read in.
        if (step > 1 && (floor.quantum_ns == 0 || step < floor.quantum_ns)) {
            floor.quantum_ns = step;
        }
    }
    return floor;
}

}  // namespace etalon::cuda
