#include "kernels/gemm/gemm_plan.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/gemm/gemm_kernels.h"

namespace etalon::kernels {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;  // kernels count rows and columns in int
constexpr std::int64_t kMaxTiles = 0x7FFFFFFF;
constexpr std::int64_t kTmaAlignment = 16;
constexpr std::int64_t kTmaMaxStride = std::int64_t{1} << 40;

std::int64_t tiles(std::int64_t size, std::int64_t tile) {
    return (size + tile - 1) / tile;
}

bool tma_can_read(const void* data, std::int64_t ld, int element_bytes) {
    const std::int64_t row_bytes = ld * element_bytes;
    return reinterpret_cast<std::uintptr_t>(data) % kTmaAlignment == 0 &&
           row_bytes % kTmaAlignment == 0 && row_bytes < kTmaMaxStride;
}

// Time of the grid in units of a 128 × 256 tile's: whole waves of SMs. Two narrow tiles take a
// tenth longer than a wide one, since they read more shared memory per multiplication.
double grid_cost(const GemmArgs& args, int tile_n) {
    constexpr std::int64_t kMultiprocessors = 132;
    const std::int64_t count = tiles(args.m, kSm90TileM) * tiles(args.n, tile_n);
    return static_cast<double>(tiles(count, kMultiprocessors)) * (tile_n == 256 ? 1.0 : 0.55);
}

const GemmKernel* select_kernel(const GemmArgs& args, int compute_capability) {
    if (args.type == GemmType::fp32) return simt_kernel();
    const int bytes = input_bytes(args.type);
    if (compute_capability == 90 && args.k > 0 && tma_can_read(args.a, args.lda, bytes) &&
        tma_can_read(args.b, args.ldb, bytes)) {
        const GemmKernel* const narrow = sm90_kernel(args.type, 128);
        const GemmKernel* const wide = sm90_kernel(args.type, 256);
        if (wide != nullptr && grid_cost(args, 256) <= grid_cost(args, 128)) return wide;
        if (narrow != nullptr) return narrow;
    }
    return mma_kernel(args.type);
}

CUtensorMapDataType map_type(GemmType type) {
    switch (type) {
        case GemmType::bf16:
            return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case GemmType::fp16:
            return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case GemmType::tf32:
        case GemmType::fp32:
            return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        case GemmType::fp8:
        case GemmType::int8:
            break;
    }
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

// By entry point, so that nothing links libcuda and a machine without a driver starts the program.
cudaError_t find_encoder(PFN_cuTensorMapEncodeTiled_v12000* encode) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                               12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess || entry == nullptr) return cudaErrorSymbolNotFound;
    *encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
    return cudaSuccess;
}

// A box is a stage: box_rows rows by 128 bytes of K. Outside the matrix it reads zeros.
cudaError_t encode_map(TensorMap* map, GemmType type, const void* data, std::int64_t rows,
                       std::int64_t k, std::int64_t ld, int box_rows) {
    PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
    const cudaError_t error = find_encoder(&encode);
    if (error != cudaSuccess) return error;
    const int bytes = input_bytes(type);
    const std::array<cuuint64_t, 2> sizes = {static_cast<cuuint64_t>(k),
                                             static_cast<cuuint64_t>(rows)};
    const std::array<cuuint64_t, 1> strides = {static_cast<cuuint64_t>(ld * bytes)};
    const std::array<cuuint32_t, 2> box = {static_cast<cuuint32_t>(kSm90StageBytes / bytes),
                                           static_cast<cuuint32_t>(box_rows)};
    const std::array<cuuint32_t, 2> steps = {1, 1};
    CUtensorMap encoded;
    const CUresult result =
        encode(&encoded, map_type(type), 2, const_cast<void*>(data), sizes.data(), strides.data(),
               box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) return cudaErrorInvalidValue;
    static_assert(sizeof(encoded) == sizeof(map->bytes));
    std::memcpy(map->bytes, &encoded, sizeof(encoded));
    return cudaSuccess;
}

cudaError_t current_device(int* compute_capability, int* multiprocessors) {
    int device = 0;
    int major = 0;
    int minor = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (error != cudaSuccess) return error;
    *compute_capability = 10 * major + minor;
    return cudaDeviceGetAttribute(multiprocessors, cudaDevAttrMultiProcessorCount, device);
}

}  // namespace

const char* gemm_unsupported(const GemmArgs& args, int compute_capability) {
    if (compute_capability < 80) return "gemm needs compute capability 8.0 or later";
    if (args.m < 0 || args.n < 0 || args.k < 0) return "gemm: m, n and k must not be negative";
    if (args.m > kMaxSize || args.n > kMaxSize || args.k > kMaxSize) {
        return "gemm: m, n and k must not exceed 2^30";
    }
    if (args.lda < args.k || args.ldb < args.k || args.ldc < args.n) {
        return "gemm: a leading dimension is smaller than its row";
    }
    if (tiles(args.m, 128) * tiles(args.n, 128) > kMaxTiles) return "gemm: C has too many tiles";
    const bool has_output = args.m > 0 && args.n > 0;
    if (has_output && args.c == nullptr) return "gemm: C is null";
    if (has_output && args.k > 0 && (args.a == nullptr || args.b == nullptr)) {
        return "gemm: A or B is null";
    }
    return nullptr;
}

const char* gemm_kernel_name(const GemmArgs& args, int compute_capability) {
    return select_kernel(args, compute_capability)->name;
}

cudaError_t gemm(const GemmArgs& args, cudaStream_t stream) {
    return GemmPlan(args).launch(stream);
}

GemmPlan::GemmPlan(const GemmArgs& args) : args_(args) {
    int compute_capability = 0;
    status_ = current_device(&compute_capability, &multiprocessors_);
    if (status_ != cudaSuccess) {
        unsupported_ = "gemm needs a usable CUDA device";
        return;
    }
    unsupported_ = gemm_unsupported(args, compute_capability);
    if (unsupported_ != nullptr) return;
    kernel_ = select_kernel(args, compute_capability);
    if (args.m == 0 || args.n == 0) return;  // launch() has nothing to do
    if (kernel_->prepare != nullptr) status_ = kernel_->prepare();
    if (status_ == cudaSuccess && kernel_->tensor_maps) {
        status_ = encode_map(&a_map_, args.type, args.a, args.m, args.k, args.lda, kSm90TileM);
    }
    if (status_ == cudaSuccess && kernel_->tensor_maps) {
        status_ = encode_map(&b_map_, args.type, args.b, args.n, args.k, args.ldb, kernel_->tile_n);
    }
    if (status_ != cudaSuccess)
        unsupported_ = "gemm: the driver refused the kernel or a tensor map";
}

const char* GemmPlan::kernel_name() const {
    return kernel_ == nullptr ? "" : kernel_->name;
}

cudaError_t GemmPlan::launch(cudaStream_t stream) const {
    if (status_ != cudaSuccess) return status_;
    if (unsupported_ != nullptr) return cudaErrorNotSupported;
    if (args_.m == 0 || args_.n == 0) return cudaSuccess;
    return kernel_->launch({args_, a_map_, b_map_, multiprocessors_}, stream);
}

}  // namespace etalon::kernels
