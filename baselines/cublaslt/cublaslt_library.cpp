#include "baselines/cublaslt/cublaslt_library.h"

namespace etalon {

VendorLibrarySpec cublaslt_spec() {
    return {.name = "cuBLASLt",
            .file = "libcublasLt.so.13",
            .variable = "ETALON_CUBLASLT",
            .version_symbol = "cublasLtGetVersion",
            .major = 13,
            .package = "nvidia-cublas"};
}

std::string cublaslt_version() {
    return VendorLibrary(cublaslt_spec()).version();
}

std::string cublaslt_problem() {
    return VendorLibrary(cublaslt_spec()).problem();
}

}  // namespace etalon
