// What a timing loop enqueues around the kernel it times: a clock probe, a spin, an L2 flush.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace etalon::kernels {

// Both counters of one SM at one moment. Over an interval, the SM's mean clock is
// Δcycles / Δtime_ns GHz.
struct ClockReading {
    std::uint64_t cycles = 0;   // clock64 of this SM
    std::uint64_t time_ns = 0;  // %globaltimer, read as it ticks
};

// Writes per_sm[smid] for each SM of the current device; `per_sm` has as many entries as the
// device has multiprocessors. The hardware places one block on each idle SM, which is not a
// promise: an entry whose SM got no block is left alone, so zero the array before the first use
// and skip an entry that did not change. Takes about 2 µs.
cudaError_t clock_probe(ClockReading* per_sm, cudaStream_t stream);

// Holds the stream for duration_ns of %globaltimer, and never for more than 4 cycles for each of
// those ns (should the timer stand still).
cudaError_t spin(std::uint64_t duration_ns, cudaStream_t stream);

// Empties L2: writes all of the buffer, then reads it all back, so that no dirty line is left for
// the timed kernel to evict. The buffer is 16-byte aligned and at least twice L2's size.
cudaError_t flush(void* buffer, std::size_t bytes, cudaStream_t stream);

// Four multiply-adds for each unit in every thread, one after another, on every SM: no memory.
// units ≥ 0.
cudaError_t arithmetic(std::int64_t units, cudaStream_t stream);

}  // namespace etalon::kernels
