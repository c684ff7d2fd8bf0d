#include "harness/device/cuda/cuda_check.h"

#include <fmt/format.h>

#include "harness/core/error.h"

namespace etalon::cuda {

void check(cudaError_t status, std::string_view what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a non-sticky error must not come back from the next, innocent call
    const std::string text =
        fmt::format("{}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status));
    if (status == cudaErrorMemoryAllocation) {
        throw OutOfMemory(text + "; choose a smaller problem");
    }
    throw device_error(text);
}

bool is_fatal(cudaError_t status) {
    switch (status) {
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorAssert:
        case cudaErrorECCUncorrectable:
        case cudaErrorDevicesUnavailable:
            return true;
        default:
            return false;
    }
}

}  // namespace etalon::cuda
