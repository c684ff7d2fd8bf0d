// Any stored type to double: the reference of a copy.
#include <algorithm>

#include "kernels/util/device_util.h"
#include "kernels/util/element.cuh"

namespace etalon::kernels {
namespace {

constexpr int kThreads = 256;

template <typename T>
__global__ void __launch_bounds__(kThreads)
    widen_kernel(const T* from, std::size_t elements, double* to) {
    const std::size_t step = std::size_t{gridDim.x} * kThreads;
    for (std::size_t i = std::size_t{blockIdx.x} * kThreads + threadIdx.x; i < elements;
         i += step) {
        to[i] = to_double(from[i]);
    }
}

}  // namespace

cudaError_t widen(ElementType type, const void* from, std::size_t elements, double* to,
                  cudaStream_t stream) {
    if (elements == 0) return cudaSuccess;
    return visit_element(type, [&]<typename T>() {
        const std::size_t blocks =
            std::min<std::size_t>((elements + kThreads - 1) / kThreads, std::size_t{1} << 20);
        widen_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
            static_cast<const T*>(from), elements, to);
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
