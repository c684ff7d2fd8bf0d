// GEMM in double, one thread an output: what the fast kernels are checked against. Tiles of 16 × 16
// go through shared memory so that a check of a large product takes a fraction of a second.
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/util/element.cuh"

namespace etalon::kernels {
namespace {

constexpr int kTile = 16;

template <typename Input>
__device__ double element(const Input* data, std::int64_t ld, std::int64_t rows, std::int64_t k,
                          std::int64_t row, std::int64_t column) {
    return row < rows && column < k ? to_double(data[row * ld + column]) : 0.0;
}

template <typename Input>
__global__ void __launch_bounds__(kTile* kTile)
    gemm_reference_kernel(const Input* a, const Input* b, double* c, std::int64_t m, std::int64_t n,
                          std::int64_t k, std::int64_t lda, std::int64_t ldb) {
    __shared__ double a_tile[kTile][kTile + 1];
    __shared__ double b_tile[kTile][kTile + 1];
    const int x = static_cast<int>(threadIdx.x);
    const int y = static_cast<int>(threadIdx.y);
    const std::int64_t tiles_n = (n + kTile - 1) / kTile;
    const std::int64_t first_row = blockIdx.x / tiles_n * kTile;
    const std::int64_t first_col = blockIdx.x % tiles_n * kTile;
    double sum = 0.0;
    for (std::int64_t start = 0; start < k; start += kTile) {
        a_tile[y][x] = element(a, lda, m, k, first_row + y, start + x);
        b_tile[y][x] = element(b, ldb, n, k, first_col + y, start + x);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kTile; ++i) sum = fma(a_tile[y][i], b_tile[x][i], sum);
        __syncthreads();
    }
    if (first_row + y < m && first_col + x < n) c[(first_row + y) * n + first_col + x] = sum;
}

template <typename Input>
cudaError_t launch(const GemmArgs& args, double* c, cudaStream_t stream) {
    const std::int64_t blocks = ((args.m + kTile - 1) / kTile) * ((args.n + kTile - 1) / kTile);
    if (blocks > 0x7FFFFFFF) return cudaErrorInvalidValue;
    gemm_reference_kernel<<<static_cast<unsigned>(blocks), dim3(kTile, kTile), 0, stream>>>(
        static_cast<const Input*>(args.a), static_cast<const Input*>(args.b), c, args.m, args.n,
        args.k, args.lda, args.ldb);
    return cudaGetLastError();
}

}  // namespace

cudaError_t gemm_reference(const GemmArgs& args, double* c, cudaStream_t stream) {
    if (args.m < 0 || args.n < 0 || args.k < 0) return cudaErrorInvalidValue;
    if (args.m == 0 || args.n == 0) return cudaSuccess;
    switch (args.type) {
        case GemmType::bf16:
            return launch<__nv_bfloat16>(args, c, stream);
        case GemmType::fp16:
            return launch<__half>(args, c, stream);
        case GemmType::tf32:
        case GemmType::fp32:
            return launch<float>(args, c, stream);
        case GemmType::fp8:
            return launch<__nv_fp8_e4m3>(args, c, stream);
        case GemmType::int8:
            return launch<std::int8_t>(args, c, stream);
    }
    return cudaErrorInvalidValue;
}

}  // namespace etalon::kernels
