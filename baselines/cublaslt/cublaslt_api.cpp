#include "baselines/cublaslt/cublaslt_api.h"

#include <fmt/format.h>

#include "baselines/cublaslt/cublaslt_library.h"

namespace etalon::cublaslt {

Api::Api() : library_(cublaslt_spec()) {
    library_.find(create, "cublasLtCreate");
    library_.find(destroy, "cublasLtDestroy");
    library_.find(status_string, "cublasLtGetStatusString");
    library_.find(matmul, "cublasLtMatmul");
    library_.find(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library_.find(algo_config, "cublasLtMatmulAlgoConfigGetAttribute");
    library_.find(desc_create, "cublasLtMatmulDescCreate");
    library_.find(desc_destroy, "cublasLtMatmulDescDestroy");
    library_.find(desc_set, "cublasLtMatmulDescSetAttribute");
    library_.find(layout_create, "cublasLtMatrixLayoutCreate");
    library_.find(layout_destroy, "cublasLtMatrixLayoutDestroy");
    library_.find(preference_create, "cublasLtMatmulPreferenceCreate");
    library_.find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    library_.find(preference_set, "cublasLtMatmulPreferenceSetAttribute");
}

void Api::check(cublasStatus_t status, std::string_view what) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw device_error(
        fmt::format("cuBLASLt {} refused {}: {}", library_.version(), what, status_string(status)));
}

Context::Context() : handle(nullptr, api.destroy) {
    cublasLtHandle_t raw = nullptr;
    api.check(api.create(&raw), "to make a handle");
    handle.reset(raw);
}

Owner<cublasLtMatmulDesc_t> make_desc(const Api& api, cublasComputeType_t compute,
                                      cudaDataType_t scale) {
    cublasLtMatmulDesc_t raw = nullptr;
    api.check(api.desc_create(&raw, compute, scale), "to describe the product");
    return {raw, api.desc_destroy};
}

Owner<cublasLtMatrixLayout_t> make_layout(const Api& api, cudaDataType_t type, std::int64_t rows,
                                          std::int64_t cols, std::int64_t ld) {
    cublasLtMatrixLayout_t raw = nullptr;
    api.check(api.layout_create(&raw, type, static_cast<std::uint64_t>(rows),
                                static_cast<std::uint64_t>(cols), ld),
              "to describe a matrix");
    return {raw, api.layout_destroy};
}

Owner<cublasLtMatmulPreference_t> make_preference(const Api& api) {
    cublasLtMatmulPreference_t raw = nullptr;
    api.check(api.preference_create(&raw), "to make a preference");
    return {raw, api.preference_destroy};
}

}  // namespace etalon::cublaslt
