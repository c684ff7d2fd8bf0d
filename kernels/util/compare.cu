// Output against a double reference. Bounded by reading both once; never timed, so left simple.
#include <algorithm>
#include <cstring>

#include "kernels/util/device_util.h"
#include "kernels/util/element.cuh"

namespace etalon::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::int64_t kMaxRowBlocks = 4096;
constexpr std::int64_t kMaxColumnBlocks = 64;

struct Tally {
    double sum_sq_diff = 0;
    double sum_sq_ref = 0;
    double max_abs_diff = 0;
    unsigned long long non_finite = 0;
    unsigned long long padding_written = 0;

    __device__ void add(const Tally& other) {
        sum_sq_diff += other.sum_sq_diff;
        sum_sq_ref += other.sum_sq_ref;
        max_abs_diff = fmax(max_abs_diff, other.max_abs_diff);
        non_finite += other.non_finite;
        padding_written += other.padding_written;
    }
    __device__ Tally from_lane(int offset) const {
        constexpr unsigned kAll = 0xFFFFFFFFU;
        return {__shfl_down_sync(kAll, sum_sq_diff, offset),
                __shfl_down_sync(kAll, sum_sq_ref, offset),
                __shfl_down_sync(kAll, max_abs_diff, offset),
                __shfl_down_sync(kAll, non_finite, offset),
                __shfl_down_sync(kAll, padding_written, offset)};
    }
};

template <typename T>
__device__ inline bool is_poison(const T& element) {
    unsigned char bytes[sizeof(T)];
    memcpy(bytes, &element, sizeof(T));
    bool poison = true;
    for (const unsigned char byte : bytes) poison = poison && byte == 0xFF;
    return poison;
}

__device__ inline void judge(double out, double ref, Tally& tally) {
    const bool finite_out = isfinite(out);
    if (isfinite(ref)) {
        tally.sum_sq_ref += ref * ref;
        if (finite_out) {
            const double difference = fabs(out - ref);
            tally.sum_sq_diff += difference * difference;
            tally.max_abs_diff = fmax(tally.max_abs_diff, difference);
        } else {
            ++tally.non_finite;
        }
    } else if (!(isnan(ref) ? isnan(out) : out == ref)) {
        ++tally.non_finite;
    }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    compare_kernel(const T* out, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                   const double* ref, CompareResult* result) {
    Tally tally;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * kThreads;
    for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        for (std::int64_t col = blockIdx.y * std::int64_t{kThreads} + threadIdx.x; col < ld;
             col += step) {
            const T element = out[row * ld + col];
            if (col < cols) {
                judge(to_double(element), ref[row * cols + col], tally);
            } else if (!is_poison(element)) {
                ++tally.padding_written;
            }
        }
    }

    for (int offset = 16; offset > 0; offset /= 2) tally.add(tally.from_lane(offset));
    __shared__ double sums[kWarps][3];
    __shared__ unsigned long long counts[kWarps][2];
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) {
        sums[warp][0] = tally.sum_sq_diff;
        sums[warp][1] = tally.sum_sq_ref;
        sums[warp][2] = tally.max_abs_diff;
        counts[warp][0] = tally.non_finite;
        counts[warp][1] = tally.padding_written;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int other = 1; other < kWarps; ++other) {
        tally.add(
            {sums[other][0], sums[other][1], sums[other][2], counts[other][0], counts[other][1]});
    }
    atomicAdd(&result->sum_sq_diff, tally.sum_sq_diff);
    atomicAdd(&result->sum_sq_ref, tally.sum_sq_ref);
    // Doubles that are not negative are ordered as their bits are.
    atomicMax(reinterpret_cast<long long*>(&result->max_abs_diff),
              __double_as_longlong(tally.max_abs_diff));
    atomicAdd(reinterpret_cast<unsigned long long*>(&result->non_finite), tally.non_finite);
    atomicAdd(reinterpret_cast<unsigned long long*>(&result->padding_written),
              tally.padding_written);
}

}  // namespace

cudaError_t compare(ElementType type, const void* out, std::int64_t rows, std::int64_t cols,
                    std::int64_t ld, const double* ref, CompareResult* device_result,
                    cudaStream_t stream) {
    if (rows < 0 || cols < 0 || ld < cols) return cudaErrorInvalidValue;
    const cudaError_t cleared = cudaMemsetAsync(device_result, 0, sizeof(CompareResult), stream);
    if (cleared != cudaSuccess || rows == 0 || ld == 0) return cleared;
    const dim3 grid(
        static_cast<unsigned>(std::min(rows, kMaxRowBlocks)),
        static_cast<unsigned>(std::min((ld + kThreads - 1) / kThreads, kMaxColumnBlocks)));
    return visit_element(type, [&]<typename T>() {
        compare_kernel<T><<<grid, kThreads, 0, stream>>>(static_cast<const T*>(out), rows, cols, ld,
                                                         ref, device_result);
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
