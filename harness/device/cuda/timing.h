// The window around one launch: what is enqueued, in which order, and how it is read.
//
//   cold: flush L2 │ spin │ probe │ event │ launch │ event │ probe
//   hot:  launch   │ spin │ probe │ event │ launch │ event │ probe
//
// The flush and the spin keep the GPU busy while the CPU enqueues the rest, so the CPU's launch gap
// is not in the window (method.md: without, an event pair read 31 to 116 µs around a 27 µs kernel).
#pragma once

#include <cstddef>
#include <vector>

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
    Timing(Device& device, cudaStream_t stream, int sm_count, std::size_t flush_bytes);

    [[nodiscard]] std::vector<Sample> run(const Launch& launch, const BlockSpec& spec);
    [[nodiscard]] Device::TimerFloor floor();

   private:
    void enqueue(const Launch& launch, const BlockSpec& spec, int index);
    void reserve(int samples);
    [[nodiscard]] kernels::ClockReading* readings(int sample, int side);

    Device& device_;
    cudaStream_t stream_;
    std::size_t sm_count_;
    Buffer flush_;
    Buffer readings_;
    struct Window {
        UniqueEvent start, stop;
    };
    std::vector<Window> windows_;
};

}  // namespace etalon::cuda
