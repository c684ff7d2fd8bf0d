// A GEMM that is ready to launch: kernel chosen, tensor maps encoded, shared memory opted in.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/gemm/gemm.h"

namespace etalon::kernels {

struct GemmKernel;

// A CUtensorMap, without the driver API's header.
struct alignas(64) TensorMap {
    std::byte bytes[128] = {};
};

// How a kernel is laid over the GPU.
struct GemmSchedule {
    int shared = 1;  // blocks of a cluster, 1 or 2, that read rows of B together
    int split = 1;   // blocks of a cluster that sum a part of K each: 1, 2, 4 or 8
    int stages = 0;  // of the ring; 0: the kernel's own number
};

struct GemmChoice {
    const GemmKernel* kernel = nullptr;
    GemmSchedule schedule;
};

// Belongs to the device that was current when it was made, and to the pointers of its arguments.
// Copies are cheap; launch() only enqueues, so it may be captured into a graph and timed.
class GemmPlan {
   public:
    // Never throws for what the arguments hold: see unsupported() and status().
    explicit GemmPlan(const GemmArgs& args);
    // With one of gemm_choices() (gemm_select.h) in place of the selected kernel.
    GemmPlan(const GemmArgs& args, const GemmChoice& choice);

    // Null when launch() can run, else one line that says why not.
    [[nodiscard]] const char* unsupported() const { return unsupported_; }
    // cudaSuccess, or what the runtime or driver answered while the plan was made.
    [[nodiscard]] cudaError_t status() const { return status_; }
    // "sm90_wgmma_bf16_128x256x64", "sm90_decode_...", "mma_sync_...", "simt_..."; empty when
    // unsupported.
    [[nodiscard]] const char* kernel_name() const;
    [[nodiscard]] const GemmSchedule& schedule() const { return choice_.schedule; }
    // cudaErrorNotSupported when unsupported(), status() where that is an error.
    cudaError_t launch(cudaStream_t stream) const;

   private:
    void prepare();

    GemmArgs args_;
    GemmChoice choice_;
    TensorMap a_map_;
    TensorMap b_map_;
    TensorMap c_map_;
    const char* unsupported_ = nullptr;
    cudaError_t status_ = cudaSuccess;
    int multiprocessors_ = 0;
};

}  // namespace etalon::kernels
