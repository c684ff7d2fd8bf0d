// An attention that is ready to launch: kernel chosen, tensor maps encoded, shared memory opted in.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/attention/attention.h"
#include "kernels/common/tensor_map.h"

namespace etalon::kernels {

enum class AttentionWay { fastest, simple };

// What the fast kernels are launched with.
struct AttentionLaunch {
    AttentionArgs args;
    TensorMap q_map, k_map, v_map;
    int multiprocessors = 0;
    int blocks = 0;
    void* workspace = nullptr;
};

struct AttentionKernel {
    const char* name = nullptr;
    cudaError_t (*prepare)(AttentionLaunch&) = nullptr;  // maps, blocks, shared memory; may be null
    std::size_t (*workspace_bytes)(const AttentionLaunch&) = nullptr;  // may be null
    cudaError_t (*launch)(const AttentionLaunch&, cudaStream_t) = nullptr;
};

// Null where this build has none for these arguments.
const AttentionKernel* sm90_prefill_kernel(const AttentionArgs& args);
const AttentionKernel* sm90_decode_kernel(const AttentionArgs& args);

// Belongs to the device that was current when it was made, and to the pointers of its arguments.
class AttentionPlan {
   public:
    // Never throws for what the arguments hold: see unsupported() and status().
    explicit AttentionPlan(const AttentionArgs& args, AttentionWay way = AttentionWay::fastest);

    // Null when launch() can run, else one line that says why not.
    [[nodiscard]] const char* unsupported() const { return unsupported_; }
    [[nodiscard]] cudaError_t status() const { return status_; }
    [[nodiscard]] const char* kernel_name() const;
    // Blocks of the grid of a kernel that divides the work among them; 0 where it does not.
    [[nodiscard]] int blocks() const { return launch_.blocks; }
    // Of launch()'s workspace: zeroed before the first launch, left as it must be for the next; for
    // one launch at a time.
    [[nodiscard]] std::size_t workspace_bytes() const;
    cudaError_t launch(void* workspace, cudaStream_t stream) const;

   private:
    AttentionLaunch launch_;
    const AttentionKernel* kernel_ = nullptr;
    const char* unsupported_ = nullptr;
    cudaError_t status_ = cudaSuccess;
};

}  // namespace etalon::kernels
