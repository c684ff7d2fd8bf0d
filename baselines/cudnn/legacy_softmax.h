// cudnnSoftmaxForward: cuDNN's softmax from before graphs.
#pragma once

#include <memory>

#include "baselines/cudnn/cudnn_api.h"
#include "baselines/cudnn/row_problem.h"

namespace etalon::cudnn {

class LegacySoftmax {
   public:
    // Both compute the same here, where a row is all channels of one image, by different kernels.
    enum class Mode { instance, channel };

    // Throws Unsupported when the tensor is too large for its descriptor.
    LegacySoftmax(std::shared_ptr<Context> context, const RowProblem& problem);
    // Throws Unsupported or a device Error when it is refused.
    void launch(Stream stream, Mode mode, const void* x, void* y);

   private:
    std::shared_ptr<Context> context_;
    Owner<cudnnTensorDescriptor_t> tensor_;
};

}  // namespace etalon::cudnn
