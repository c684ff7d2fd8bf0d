// Random and constant fills. Bounded by the writes for wide types and by the arithmetic of
// Box-Muller for narrow ones; never timed, so left simple.
#include <algorithm>

#include "kernels/util/device_util.h"
#include "kernels/util/element.cuh"

namespace etalon::kernels {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 16384;

// splitmix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
__host__ __device__ inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

__device__ inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
    return mix(key + (counter + 1) * kGolden);
}

// Two normals of one 64-bit draw; the tail ends at 6.7 sigma.
__device__ inline float2 normal_pair(std::uint64_t bits) {
    constexpr float kTwoToMinus32 = 2.3283064e-10F;
    const float u =
        (static_cast<float>(static_cast<std::uint32_t>(bits >> 32)) + 0.5F) * kTwoToMinus32;
    const float turn = static_cast<float>(static_cast<std::uint32_t>(bits)) * kTwoToMinus32;
    const float radius = sqrtf(-2.0F * logf(fminf(u, 1.0F)));
    float sine = 0;
    float cosine = 0;
    sincospif(2.0F * turn, &sine, &cosine);
    return {radius * cosine, radius * sine};
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    fill_normal_kernel(T* data, std::size_t elements, double mean, double sigma,
                       std::uint64_t key) {
    const std::size_t pairs = (elements + 1) / 2;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
    for (std::size_t pair = blockIdx.x * std::size_t{kThreads} + threadIdx.x; pair < pairs;
         pair += step) {
        const float2 z = normal_pair(random_bits(key, pair));
        data[2 * pair] = from_double<T>(mean + sigma * static_cast<double>(z.x));
        if (2 * pair + 1 < elements) {
            data[2 * pair + 1] = from_double<T>(mean + sigma * static_cast<double>(z.y));
        }
    }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    fill_uniform_kernel(T* data, std::size_t elements, double lo, double hi, std::uint64_t key) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
    for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < elements;
         i += step) {
        const double u = static_cast<double>(random_bits(key, i) >> 11) * 0x1p-53;
        data[i] = from_double<T>(lo + (hi - lo) * u);
    }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    fill_constant_kernel(T* data, std::size_t elements, double value) {
    const T stored = from_double<T>(value);
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * kThreads;
    for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < elements;
         i += step) {
        data[i] = stored;
    }
}

unsigned blocks_for(std::size_t items) {
    return static_cast<unsigned>(std::min((items + kThreads - 1) / kThreads, kMaxBlocks));
}

// Seeds that differ in one bit must not give shifted copies of one stream.
std::uint64_t key_of(std::uint64_t seed) {
    return mix(mix(seed + kGolden) ^ 0xD1B54A32D192ED03ULL);
}

}  // namespace

cudaError_t fill_normal(ElementType type, void* data, std::size_t elements, double mean,
                        double sigma, std::uint64_t seed, cudaStream_t stream) {
    if (elements == 0) return cudaSuccess;
    return visit_element(type, [&]<typename T>() {
        fill_normal_kernel<T><<<blocks_for((elements + 1) / 2), kThreads, 0, stream>>>(
            static_cast<T*>(data), elements, mean, sigma, key_of(seed));
        return cudaGetLastError();
    });
}

cudaError_t fill_uniform(ElementType type, void* data, std::size_t elements, double lo, double hi,
                         std::uint64_t seed, cudaStream_t stream) {
    if (elements == 0) return cudaSuccess;
    return visit_element(type, [&]<typename T>() {
        fill_uniform_kernel<T><<<blocks_for(elements), kThreads, 0, stream>>>(
            static_cast<T*>(data), elements, lo, hi, key_of(seed));
        return cudaGetLastError();
    });
}

cudaError_t fill_constant(ElementType type, void* data, std::size_t elements, double value,
                          cudaStream_t stream) {
    if (elements == 0) return cudaSuccess;
    return visit_element(type, [&]<typename T>() {
        fill_constant_kernel<T>
            <<<blocks_for(elements), kThreads, 0, stream>>>(static_cast<T*>(data), elements, value);
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
