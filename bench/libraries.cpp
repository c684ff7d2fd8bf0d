#include "bench/libraries.h"

#include "baselines/onednn/onednn_version.h"
#ifdef ETALON_CUDA
#include "baselines/cublaslt/cublaslt_library.h"
#include "baselines/cudnn/cudnn_library.h"
#endif

namespace etalon {

std::vector<Library> libraries(DeviceKind kind) {
    if (kind == DeviceKind::host) {
        const std::string version = onednn_version();
        return {
            {"oneDNN", version,
             version.empty() ? "this build carries none; use the release or host-only build" : ""}};
    }
#ifdef ETALON_CUDA
    return {{"cuBLAS", cublaslt_version(), cublaslt_problem()},
            {"cuDNN", cudnn_version(), cudnn_problem()}};
#else
    return {};
#endif
}

void add_library_versions(Environment& environment, DeviceKind kind) {
    for (const Library& library : libraries(kind)) {
        if (library.name == "cuBLAS") {
            environment.cublas = library.version;
        } else if (library.name == "cuDNN") {
            environment.cudnn = library.version;
        } else {
            environment.extra[library.name] = library.version;
        }
    }
}

}  // namespace etalon
