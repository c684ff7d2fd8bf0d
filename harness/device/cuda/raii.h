// Owners of CUDA handles.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "harness/device/cuda/cuda_check.h"

namespace etalon::cuda {

struct DestroyStream {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using UniqueStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

inline UniqueStream make_stream() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return UniqueStream(stream);
}

struct DestroyEvent {
    void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using UniqueEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

inline UniqueEvent make_event() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "creating an event");
    return UniqueEvent(event);
}

}  // namespace etalon::cuda
