// Filling and comparing device tensors, on a CUDA stream.
//
// Nothing here waits: results are there once the stream has passed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/util/element_type.h"

namespace etalon::kernels {

// Element i depends on the seed and i alone (splitmix64 of a counter, Box-Muller for the normal),
// so a fill is the same on every device and for every launch geometry. Values are rounded to
// nearest; integers are clamped, int8 to [-127, 127]; e4m3 saturates at ±448.
cudaError_t fill_normal(ElementType type, void* data, std::size_t elements, double mean,
                        double sigma, std::uint64_t seed, cudaStream_t stream);
cudaError_t fill_uniform(ElementType type, void* data, std::size_t elements, double lo, double hi,
                         std::uint64_t seed, cudaStream_t stream);
cudaError_t fill_constant(ElementType type, void* data, std::size_t elements, double value,
                          cudaStream_t stream);

// to[i] = from[i], exactly.
cudaError_t widen(ElementType type, const void* from, std::size_t elements, double* to,
                  cudaStream_t stream);

struct CompareResult {
    double sum_sq_diff = 0;   // Σ (out − ref)² over elements where both are finite
    double sum_sq_ref = 0;    // Σ ref² over finite ref
    double max_abs_diff = 0;  // over elements where both are finite
    // Elements whose out is not finite where ref is, or the other way round, or a NaN against an
    // infinity, or infinities of unlike sign.
    std::int64_t non_finite = 0;
    // Elements of columns cols..ld, of every row, with a byte that is not 0xFF.
    std::int64_t padding_written = 0;
};

// `out` is rows × cols with leading dimension ld (rows × ld elements of storage); `ref` is dense
// rows × cols. Overwrites *device_result, which is in device memory. The order of the double sums
// is not fixed: repeats agree to about 1e-15.
cudaError_t compare(ElementType type, const void* out, std::int64_t rows, std::int64_t cols,
                    std::int64_t ld, const double* ref, CompareResult* device_result,
                    cudaStream_t stream);

}  // namespace etalon::kernels
