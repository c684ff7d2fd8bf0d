#include "kernels/attention/attention_plan.h"

namespace etalon::kernels {
namespace {

const AttentionKernel simple_kernel{
    "simple", nullptr, nullptr,
    [](const AttentionLaunch& l, cudaStream_t stream) { return attention_simple(l.args, stream); }};

cudaError_t current_device(int* compute_capability, int* multiprocessors) {
    int device = 0, major = 0, minor = 0;
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

AttentionPlan::AttentionPlan(const AttentionArgs& args, AttentionWay way) {
    launch_.args = args;
    unsupported_ = attention_invalid(args);
    if (unsupported_ != nullptr) return;
    int compute_capability = 0;
    status_ = current_device(&compute_capability, &launch_.multiprocessors);
    if (status_ != cudaSuccess) {
        unsupported_ = "attention needs a usable CUDA device";
        return;
    }
    if (way == AttentionWay::fastest && compute_capability == 90) {
        kernel_ = sm90_decode_kernel(args);
        if (kernel_ == nullptr) kernel_ = sm90_prefill_kernel(args);
    }
    if (kernel_ == nullptr) {
        kernel_ = &simple_kernel;
        unsupported_ = attention_simple_unsupported(args);
        if (unsupported_ != nullptr) return;
    }
    if (kernel_->prepare != nullptr) status_ = kernel_->prepare(launch_);
    if (status_ != cudaSuccess) {
        unsupported_ = "attention: the driver refused the kernel or a tensor map";
    }
}

const char* AttentionPlan::kernel_name() const {
    return kernel_ == nullptr ? "" : kernel_->name;
}

std::size_t AttentionPlan::workspace_bytes() const {
    return kernel_ == nullptr || kernel_->workspace_bytes == nullptr
               ? 0
               : kernel_->workspace_bytes(launch_);
}

cudaError_t AttentionPlan::launch(void* workspace, cudaStream_t stream) const {
    if (status_ != cudaSuccess) return status_;
    if (unsupported_ != nullptr) return cudaErrorNotSupported;
    if (launch_.args.batch == 0 || launch_.args.queries == 0) return cudaSuccess;
    AttentionLaunch with = launch_;
    with.workspace = workspace;
    return kernel_->launch(with, stream);
}

}  // namespace etalon::kernels
