#include "baselines/cudnn/legacy_softmax.h"

#include <fmt/format.h>

#include "bench/op.h"

namespace etalon::cudnn {
namespace {

cudnnDataType_t data_type(Precision precision) {
    switch (precision) {
        case Precision::bf16:
            return CUDNN_DATA_BFLOAT16;
        case Precision::fp16:
            return CUDNN_DATA_HALF;
        default:
            return CUDNN_DATA_FLOAT;
    }
}

Owner<cudnnTensorDescriptor_t> make_tensor(const Api& api) {
    cudnnTensorDescriptor_t raw = nullptr;
    api.check(api.tensor_create(&raw), "to make a tensor descriptor");
    return {raw, api.tensor_destroy};
}

}  // namespace

LegacySoftmax::LegacySoftmax(std::shared_ptr<Context> context, const RowProblem& problem)
    : context_(std::move(context)), tensor_(make_tensor(context_->api())) {
    if (!fits_legacy_descriptor(problem)) {
        throw Unsupported(fmt::format("cudnnSoftmaxForward counts in 32 bits; {} x {} is too large",
                                      problem.rows, problem.ld));
    }
    context_->api().check(
        context_->api().tensor_set(tensor_.get(), data_type(problem.precision),
                                   static_cast<int>(problem.rows), static_cast<int>(problem.cols),
                                   1, 1, static_cast<int>(problem.ld), 1, 1, 1),
        "to describe the tensor of softmax");
}

void LegacySoftmax::launch(Stream stream, Mode mode, const void* x, void* y) {
    const float one = 1, zero = 0;
    // ACCURATE subtracts the maximum; FAST does not, and overflows where the reference does not.
    context_->api().check(
        context_->api().softmax_forward(
            context_->on(stream), CUDNN_SOFTMAX_ACCURATE,
            mode == Mode::instance ? CUDNN_SOFTMAX_MODE_INSTANCE : CUDNN_SOFTMAX_MODE_CHANNEL, &one,
            tensor_.get(), x, &zero, tensor_.get(), y),
        "to run cudnnSoftmaxForward");
}

}  // namespace etalon::cudnn
