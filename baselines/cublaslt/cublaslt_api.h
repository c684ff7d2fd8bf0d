// cuBLASLt's functions, resolved at run time, and owners of its handles.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string_view>
#include <type_traits>

#include "baselines/common/vendor_library.h"

namespace etalon::cublaslt {

// Throws a device Error when the library cannot be used; Api lives as long as anything made by it.
class Api {
   public:
    Api();
    [[nodiscard]] const VendorLibrary& library() const { return library_; }
    // Throws a device Error naming `what` unless status is success.
    void check(cublasStatus_t status, std::string_view what) const;

   private:
    VendorLibrary library_;

   public:
    decltype(&::cublasLtCreate) create = nullptr;
    decltype(&::cublasLtDestroy) destroy = nullptr;
    decltype(&::cublasLtGetStatusString) status_string = nullptr;
    decltype(&::cublasLtMatmul) matmul = nullptr;
    decltype(&::cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
    decltype(&::cublasLtMatmulAlgoConfigGetAttribute) algo_config = nullptr;
    decltype(&::cublasLtMatmulDescCreate) desc_create = nullptr;
    decltype(&::cublasLtMatmulDescDestroy) desc_destroy = nullptr;
    decltype(&::cublasLtMatmulDescSetAttribute) desc_set = nullptr;
    decltype(&::cublasLtMatrixLayoutCreate) layout_create = nullptr;
    decltype(&::cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
    decltype(&::cublasLtMatmulPreferenceCreate) preference_create = nullptr;
    decltype(&::cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
    decltype(&::cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
};

template <typename Pointer>
using Owner = std::unique_ptr<std::remove_pointer_t<Pointer>, cublasStatus_t (*)(Pointer)>;

// The library's state on the current device: made once for each device, shared by its cases.
struct Context {
    Context();
    Api api;
    Owner<cublasLtHandle_t> handle;
};

[[nodiscard]] Owner<cublasLtMatmulDesc_t> make_desc(const Api& api, cublasComputeType_t compute,
                                                    cudaDataType_t scale);
[[nodiscard]] Owner<cublasLtMatrixLayout_t> make_layout(const Api& api, cudaDataType_t type,
                                                        std::int64_t rows, std::int64_t cols,
                                                        std::int64_t ld);
[[nodiscard]] Owner<cublasLtMatmulPreference_t> make_preference(const Api& api);

}  // namespace etalon::cublaslt
