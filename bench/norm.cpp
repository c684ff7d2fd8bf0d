// rmsnorm and layernorm over the columns, with a weight (and a bias).

#include "bench/ops.h"
#include "bench/row_op.h"
#include "bench/tolerance.h"

namespace etalon {
namespace {

class Norm : public RowOp {
   public:
    // Outputs are products of normals and weights near 1: up to twice the largest normal. Two
    // roundings where the normalised row is rounded before the weight is applied.
    Tolerance tolerance(const Problem& problem) const override {
        const double relative =
            2 * unit_roundoff(output_dtype(problem.precision)) + 16 * fp32_roundoff;
        return {relative, relative * 2 * largest_normal(elements(problem))};
    }

   protected:
    static TensorSpec weight(const Problem& problem) {
        return {"weight", Role::input, vector(problem), {.a = 1, .b = 0.2}};
    }
};

class RmsNorm final : public Norm {
   public:
    std::string_view name() const override { return "rmsnorm"; }
    std::string_view summary() const override { return "y = x * w / sqrt(mean(x^2) + 1e-5)"; }
    Work work(const Problem& problem) const override {
        return {.flop = 4 * elements(problem), .bytes_min = bytes(problem, 1)};
    }
    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        return {{"x", Role::input, matrix(problem), {}},
                weight(problem),
                {"y", Role::output, matrix(problem), {}}};
    }
    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        reference::Rows args = rows(problem, buffers[0].data());
        args.weight = buffers[1].data();
        reference::rmsnorm(device, args, outputs_f64[0].as<double>());
    }
};

class LayerNorm final : public Norm {
   public:
    std::string_view name() const override { return "layernorm"; }
    std::string_view summary() const override {
        return "y = (x - mean) * w / sqrt(var + 1e-5) + b";
    }
    Work work(const Problem& problem) const override {
        return {.flop = 8 * elements(problem), .bytes_min = bytes(problem, 2)};
    }
    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        return {{"x", Role::input, matrix(problem), {}},
                weight(problem),
                {"bias", Role::input, vector(problem), {.a = 0, .b = 0.2}},
                {"y", Role::output, matrix(problem), {}}};
    }
    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        reference::Rows args = rows(problem, buffers[0].data());
        args.weight = buffers[1].data();
        args.bias = buffers[2].data();
        reference::layernorm(device, args, outputs_f64[0].as<double>());
    }
};

}  // namespace

std::unique_ptr<Op> make_rmsnorm() {
    return std::make_unique<RmsNorm>();
}
std::unique_ptr<Op> make_layernorm() {
    return std::make_unique<LayerNorm>();
}

}  // namespace etalon
