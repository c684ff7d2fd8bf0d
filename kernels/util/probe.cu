// clock_probe and spin take a fixed time; flush is bounded by memory (twice the buffer's bytes).
#include <algorithm>

#include "kernels/util/probe.h"

namespace etalon::kernels {
namespace {

__device__ inline std::uint64_t cycles_now() {
    std::uint64_t cycles = 0;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

__device__ inline std::uint64_t time_now_ns() {
    std::uint64_t time_ns = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time_ns)::"memory");
    return time_ns;
}

// Each block stays until all have been placed, else a late one could follow an early one on its SM.
constexpr std::uint64_t kPlacementCycles = 1024;
// %globaltimer ticks every 32 ns on an H200 and every microsecond on older parts.
constexpr std::uint64_t kMaxTickCycles = 8192;

__global__ void __launch_bounds__(32) clock_probe_kernel(ClockReading* per_sm, unsigned entries) {
    if (threadIdx.x != 0) return;
    unsigned sm = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    const std::uint64_t start = cycles_now();
    while (cycles_now() - start < kPlacementCycles) {
    }
    // Reading at a tick takes the timer's step out of the interval.
    ClockReading reading;
    const std::uint64_t before = time_now_ns();
    do {
        reading.time_ns = time_now_ns();
        reading.cycles = cycles_now();
    } while (reading.time_ns == before && reading.cycles - start < kMaxTickCycles);
    if (sm < entries) per_sm[sm] = reading;
}

__global__ void __launch_bounds__(32) spin_kernel(std::uint64_t duration_ns) {
    if (threadIdx.x != 0) return;
    const std::uint64_t start_cycles = cycles_now();
    const std::uint64_t start_ns = time_now_ns();
    while (time_now_ns() - start_ns < duration_ns &&
           cycles_now() - start_cycles < 4 * duration_ns) {
    }
}

constexpr int kFlushThreads = 512;

__global__ void __launch_bounds__(kFlushThreads) flush_write_kernel(uint4* data, std::size_t n) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kFlushThreads;
    for (std::size_t i = blockIdx.x * std::size_t{kFlushThreads} + threadIdx.x; i < n; i += step) {
        data[i] = uint4{0, 0, 0, 0};
    }
}

__global__ void __launch_bounds__(kFlushThreads) flush_read_kernel(uint4* data, std::size_t n) {
    unsigned seen = 0;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kFlushThreads;
#pragma unroll 4
    for (std::size_t i = blockIdx.x * std::size_t{kFlushThreads} + threadIdx.x; i < n; i += step) {
        uint4 value;
        // Past L1, and not to be dropped by the compiler.
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "l"(data + i));
        seen |= value.x | value.y | value.z | value.w;
    }
    if (seen != 0) data[0] = uint4{0, 0, 0, 0};  // never: the loads must have a use
}

constexpr int kArithmeticThreads = 256;
constexpr float kFactor = 0.999F;  // the value stays between 0 and 1

__global__ void __launch_bounds__(kArithmeticThreads)
    arithmetic_kernel(std::int64_t units, float start, float* never) {
    float value = start;
    for (std::int64_t i = 0; i < units; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(kFactor), "f"(1e-3F));
        }
    }
    if (value < 0) *never = value;
}

cudaError_t multiprocessors(int* count) {
    int device = 0;
    const cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device);
}

}  // namespace

cudaError_t clock_probe(ClockReading* per_sm, cudaStream_t stream) {
    int count = 0;
    const cudaError_t error = multiprocessors(&count);
    if (error != cudaSuccess) return error;
    clock_probe_kernel<<<static_cast<unsigned>(count), 32, 0, stream>>>(
        per_sm, static_cast<unsigned>(count));
    return cudaGetLastError();
}

cudaError_t spin(std::uint64_t duration_ns, cudaStream_t stream) {
    spin_kernel<<<1, 32, 0, stream>>>(duration_ns);
    return cudaGetLastError();
}

cudaError_t arithmetic(std::int64_t units, cudaStream_t stream) {
    int count = 0;
    const cudaError_t error = multiprocessors(&count);
    if (error != cudaSuccess) return error;
    arithmetic_kernel<<<static_cast<unsigned>(count), kArithmeticThreads, 0, stream>>>(units, 0.5F,
                                                                                       nullptr);
    return cudaGetLastError();
}

cudaError_t flush(void* buffer, std::size_t bytes, cudaStream_t stream) {
    const std::size_t vectors = bytes / sizeof(uint4);
    if (reinterpret_cast<std::uintptr_t>(buffer) % sizeof(uint4) != 0) return cudaErrorInvalidValue;
    if (vectors == 0) return cudaSuccess;
    int count = 0;
    const cudaError_t error = multiprocessors(&count);
    if (error != cudaSuccess) return error;
    const auto blocks = static_cast<unsigned>(std::min(
        (vectors + kFlushThreads - 1) / kFlushThreads, static_cast<std::size_t>(count) * 4));
    auto* data = static_cast<uint4*>(buffer);
    flush_write_kernel<<<blocks, kFlushThreads, 0, stream>>>(data, vectors);
    flush_read_kernel<<<blocks, kFlushThreads, 0, stream>>>(data, vectors);
    return cudaGetLastError();
}

}  // namespace etalon::kernels
