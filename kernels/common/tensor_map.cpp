#include "kernels/common/tensor_map.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <array>
#include <cstring>

namespace etalon::kernels {

cudaError_t encode_tensor_map(TensorMap* map, const TensorBoxes& of) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                               12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return error;
    if (found != cudaDriverEntryPointSuccess || entry == nullptr) return cudaErrorSymbolNotFound;
    const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);

    constexpr std::size_t most = 5;
    const std::size_t rank = of.sizes.size();
    if (rank < 2 || rank > most || of.strides_bytes.size() != rank - 1 || of.box.size() != rank) {
        return cudaErrorInvalidValue;
    }
    std::array<cuuint64_t, most> sizes{}, strides{};
    std::array<cuuint32_t, most> box{}, steps{};
    for (std::size_t i = 0; i < rank; ++i) {
        sizes[i] = of.sizes[i];
        box[i] = of.box[i];
        steps[i] = 1;
        if (i > 0) strides[i - 1] = of.strides_bytes[i - 1];
    }
    CUtensorMap encoded;
    const CUresult result = encode(
        &encoded,
        of.element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : CU_TENSOR_MAP_DATA_TYPE_UINT8,
        static_cast<cuuint32_t>(rank), const_cast<void*>(of.data), sizes.data(), strides.data(),
        box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        of.once ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) return cudaErrorInvalidValue;
    static_assert(sizeof(encoded) == sizeof(map->bytes));
    std::memcpy(map->bytes, &encoded, sizeof(encoded));
    return cudaSuccess;
}

}  // namespace etalon::kernels
