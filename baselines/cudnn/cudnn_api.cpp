#include "baselines/cudnn/cudnn_api.h"

#include <fmt/format.h>

#include "baselines/cudnn/cudnn_library.h"
#include "baselines/cudnn/graph.h"
#include "bench/op.h"

namespace etalon::cudnn {

Api::Api() : library_(cudnn_spec()) {
    library_.find(create, "cudnnCreate");
    library_.find(destroy, "cudnnDestroy");
    library_.find(set_stream, "cudnnSetStream");
    library_.find(error_string, "cudnnGetErrorString");
    library_.find(tensor_create, "cudnnCreateTensorDescriptor");
    library_.find(tensor_destroy, "cudnnDestroyTensorDescriptor");
    library_.find(tensor_set, "cudnnSetTensor4dDescriptorEx");
    library_.find(softmax_forward, "cudnnSoftmaxForward");
    use_library_for_graphs(library_.handle());
}

void Api::check(cudnnStatus_t status, std::string_view what) const {
    if (status == CUDNN_STATUS_SUCCESS) return;
    const std::string line =
        fmt::format("cuDNN {} refused {}: {}", library_.version(), what, error_string(status));
    // The hundreds digit is the kind of failure, the rest its detail (cudnn_graph.h).
    constexpr int detail = 1000;
    if (static_cast<int>(status) / detail ==
        static_cast<int>(CUDNN_STATUS_NOT_SUPPORTED) / detail) {
        throw Unsupported(line);
    }
    throw device_error(line);
}

Context::Context() : handle_(nullptr, api_.destroy) {
    cudnnHandle_t raw = nullptr;
    api_.check(api_.create(&raw), "to make a handle");
    handle_.reset(raw);
}

cudnnHandle_t Context::on(Stream stream) {
    if (stream.handle != stream_) {
        api_.check(api_.set_stream(handle_.get(), static_cast<cudaStream_t>(stream.handle)),
                   "a stream");
        stream_ = stream.handle;
    }
    return handle_.get();
}

}  // namespace etalon::cudnn
