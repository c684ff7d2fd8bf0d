#include "kernels/gemm/gemm_plan.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <array>
#include <cstring>

#include "kernels/gemm/gemm_kernels.h"
#include "kernels/gemm/gemm_select.h"

namespace etalon::kernels {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 30;  // kernels count rows and columns in int
constexpr std::int64_t kMaxTiles = 0x7FFFFFFF;

std::int64_t tiles(std::int64_t size, std::int64_t tile) {
    return (size + tile - 1) / tile;
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

struct Matrix {
    CUtensorMapDataType type;
    int element_bytes;
    const void* data;
    std::int64_t rows, cols, ld;
};

// A box of box_rows rows by box_bytes, under the swizzle of its width.
cudaError_t encode_map(TensorMap* map, const Matrix& of, int box_rows, int box_bytes,
                       CUtensorMapL2promotion fetch) {
    PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
    const cudaError_t error = find_encoder(&encode);
    if (error != cudaSuccess) return error;
    const std::array<cuuint64_t, 2> sizes = {static_cast<cuuint64_t>(of.cols),
                                             static_cast<cuuint64_t>(of.rows)};
    const std::array<cuuint64_t, 1> strides = {static_cast<cuuint64_t>(of.ld * of.element_bytes)};
    const std::array<cuuint32_t, 2> box = {static_cast<cuuint32_t>(box_bytes / of.element_bytes),
                                           static_cast<cuuint32_t>(box_rows)};
    const std::array<cuuint32_t, 2> steps = {1, 1};
    const CUtensorMapSwizzle swizzle =
        box_bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    CUtensorMap encoded;
    const CUresult result =
        encode(&encoded, of.type, 2, const_cast<void*>(of.data), sizes.data(), strides.data(),
               box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, fetch,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
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
    constexpr int kMultiprocessors = 132;  // of the H200; the name hardly depends on it
    return select_gemm(args, compute_capability, kMultiprocessors).kernel->name;
}

cudaError_t gemm(const GemmArgs& args, cudaStream_t stream) {
    return GemmPlan(args).launch(stream);
}

bool can_store_by_map(const GemmArgs& args) {
    constexpr std::int64_t kAlignment = 16;
    const bool two_bytes = args.type == GemmType::bf16 || args.type == GemmType::fp16 ||
                           args.type == GemmType::fp8;  // fp8 gives bf16
    return two_bytes && reinterpret_cast<std::uintptr_t>(args.c) % kAlignment == 0 &&
           args.ldc * 2 % kAlignment == 0 && args.n * 2 % kAlignment == 0;
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
    choice_ = select_gemm(args, compute_capability, multiprocessors_);
    prepare();
}

GemmPlan::GemmPlan(const GemmArgs& args, const GemmChoice& choice) : args_(args), choice_(choice) {
    int compute_capability = 0;
    status_ = current_device(&compute_capability, &multiprocessors_);
    unsupported_ = status_ != cudaSuccess ? "gemm needs a usable CUDA device"
                                          : gemm_unsupported(args, compute_capability);
    if (unsupported_ == nullptr) prepare();
}

void GemmPlan::prepare() {
    const GemmKernel& kernel = *choice_.kernel;
    if (args_.m == 0 || args_.n == 0) return;  // launch() has nothing to do
    if (kernel.prepare != nullptr) status_ = kernel.prepare();
    if (kernel.tensor_maps) {
        const CUtensorMapDataType type = map_type(args_.type);
        const int bytes = input_bytes(args_.type);
        const int b_rows = kernel.tile_n / choice_.schedule.shared;
        const CUtensorMapL2promotion fetch = kernel.streams ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
                                                            : CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
        const auto encode = [this, fetch](TensorMap* map, const Matrix& of, int box_rows,
                                          int box_bytes) {
            if (status_ == cudaSuccess) status_ = encode_map(map, of, box_rows, box_bytes, fetch);
        };
        encode(&a_map_, {type, bytes, args_.a, args_.m, args_.k, args_.lda}, kernel.tile_m,
               kSm90StageBytes);
        encode(&b_map_, {type, bytes, args_.b, args_.n, args_.k, args_.ldb}, b_rows,
               kSm90StageBytes);
        if (can_store_by_map(args_)) {
            encode(&c_map_,
                   {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, args_.c, args_.m, args_.n, args_.ldc},
                   kSm90StoreRows, kSm90StoreBytes);
        }
    }
    if (status_ != cudaSuccess) {
        unsupported_ = "gemm: the driver refused the kernel or a tensor map";
    }
}

const char* GemmPlan::kernel_name() const {
    return choice_.kernel == nullptr ? "" : choice_.kernel->name;
}

cudaError_t GemmPlan::launch(cudaStream_t stream) const {
    if (status_ != cudaSuccess) return status_;
    if (unsupported_ != nullptr) return cudaErrorNotSupported;
    if (args_.m == 0 || args_.n == 0) return cudaSuccess;
    return choice_.kernel->launch(
        {args_, choice_.schedule, a_map_, b_map_, c_map_, multiprocessors_}, stream);
}

}  // namespace etalon::kernels
