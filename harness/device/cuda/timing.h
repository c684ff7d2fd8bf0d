// The window around one launch: what is enqueued, in which order, and how it is read.
//
//   cold: [load] flush L2 │ spin │ probe │ event │ launch │ event │ probe
//   hot:  [load] launch   │ spin │ probe │ event │ launch │ event │ probe
//
// The time is the launch's own in CUPTI's records (first begin to last end), or between the events,
// which are only there where CUPTI is not. The load is there in heated blocks.
//
// The flush and the spin keep the GPU busy while the CPU enqueues the rest, so the CPU's launch gap
// is not in the window (method.md: without, an event pair read 31 to 116 µs around a 27 µs kernel).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/device/cuda/activity.h"
#include "harness/device/cuda/heater.h"
#include "harness/device/cuda/raii.h"
#include "harness/device/device.h"
#include "kernels/util/probe.h"

namespace etalon::cuda {

// Median over SMs of Δcycles / Δtime, MHz; 0 when no SM was read both times.
[[nodiscard]] double effective_clock_mhz(std::span<const kernels::ClockReading> before,
                                         std::span<const kernels::ClockReading> after);

class Timing {
   public:
    // `flush_bytes`: at least twice L2. Buffers are taken from `device`, which outlives this.
    // Throws a device Error when CUPTI is asked for and cannot record.
    Timing(Device& device, cudaStream_t stream, int sm_count, std::size_t flush_bytes, Timer timer);

    // "cupti" or "events".
    [[nodiscard]] std::string name() const { return recorder_ ? "cupti" : "events"; }
    // Why not CUPTI, where it was tried in vain.
    [[nodiscard]] const std::string& no_cupti() const { return no_cupti_; }

    void heat(double milliseconds);
    [[nodiscard]] std::vector<Sample> run(const Launch& launch, const BlockSpec& spec);
    [[nodiscard]] Device::TimerFloor floor();
    // As Device::busy_ns.
    [[nodiscard]] double busy_ns();

   private:
    void enqueue(const Launch& launch, const BlockSpec& spec, int index);
    void reserve(int samples);
    [[nodiscard]] std::vector<double> durations_ns(int samples);
    [[nodiscard]] Heater& heater();
    // What has ended since the last call, counted into busy_ns_.
    std::vector<Activity> take_activities();
    [[nodiscard]] kernels::ClockReading* readings(int sample, int side);

    Device& device_;
    cudaStream_t stream_;
    std::size_t sm_count_;
    Buffer flush_;
    Buffer readings_;
    std::optional<ActivityRecorder> recorder_;
    std::string no_cupti_;
    double busy_ns_ = 0;
    std::optional<Heater> heater_;  // made when first asked for
    struct Window {
        UniqueEvent start, stop;
    };
    std::vector<Window> windows_;
};

}  // namespace etalon::cuda
