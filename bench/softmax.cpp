// softmax: y[r, :] = exp(x[r, :] − max) / sum, over the columns.

#include <cmath>

#include "bench/ops.h"
#include "bench/row_op.h"
#include "bench/tolerance.h"

namespace etalon {
namespace {

class Softmax final : public RowOp {
   public:
    std::string_view name() const override { return "softmax"; }
    std::string_view summary() const override { return "y = softmax(x) over the columns"; }

    // Subtract, exponent, sum, scale, and the comparison for the maximum.
    Work work(const Problem& problem) const override {
        return {.flop = 5 * elements(problem), .bytes_min = bytes(problem, 0)};
    }
    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        return {{"x", Role::input, matrix(problem), {}}, {"y", Role::output, matrix(problem), {}}};
    }
    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        reference::softmax(device, rows(problem, buffers[0].data()), outputs_f64[0].as<double>());
    }

    // Outputs of normal inputs are log-normal with mean 1/cols and rms e^½/cols; the largest is
    // e^(largest normal) / e of the rms. fp16 has subnormals there: a step of 2^-24, half of it
    // lost.
    Tolerance tolerance(const Problem& problem) const override {
        const DType out = output_dtype(problem.precision);
        const auto cols = static_cast<double>(problem.axes.at("cols"));
        const double relative =
            unit_roundoff(out) + 32 * fp32_roundoff + (out == DType::f16 ? 0x1p-25 * cols : 0);
        return {relative, relative * std::exp(largest_normal(elements(problem)) - 1)};
    }
};

}  // namespace

std::unique_ptr<Op> make_softmax() {
    return std::make_unique<Softmax>();
}

}  // namespace etalon
