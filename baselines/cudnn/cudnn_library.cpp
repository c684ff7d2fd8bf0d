#include "baselines/cudnn/cudnn_library.h"

namespace etalon {

VendorLibrarySpec cudnn_spec() {
    return {.name = "cuDNN",
            .file = "libcudnn.so.9",
            .variable = "ETALON_CUDNN",
            .version_symbol = "cudnnGetVersion",
            .major = 9,
            .package = "nvidia-cudnn-cu13"};
}

std::string cudnn_version() {
    return VendorLibrary(cudnn_spec()).version();
}

std::string cudnn_problem() {
    return VendorLibrary(cudnn_spec()).problem();
}

}  // namespace etalon
