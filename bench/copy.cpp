// copy: y = x, n elements. The memory ceiling that every other op is held against.

#include "bench/ops.h"
#include "bench/reference.h"

namespace etalon {
namespace {

class Copy final : public Op {
   public:
    std::string_view name() const override { return "copy"; }
    std::string_view summary() const override { return "y = x, n elements"; }
    std::vector<AxisSpec> axes() const override {
        return {{.name = "n", .max = std::int64_t{1} << 40, .help = "elements"}};
    }
    std::vector<Precision> precisions() const override {
        return {Precision::fp32, Precision::bf16, Precision::fp16, Precision::fp8, Precision::int8};
    }
    std::string_view baseline(DeviceKind kind) const override {
        return kind == DeviceKind::cuda ? "cudart" : "libc";
    }
    double prior_elasticity(const Problem&) const override { return 0.05; }
    Work work(const Problem& problem) const override {
        return {.flop = 0,
                .bytes_min = 2.0 * static_cast<double>(problem.axes.at("n")) *
                             static_cast<double>(bytes_of(input_dtype(problem.precision)))};
    }
    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        const std::int64_t n = problem.axes.at("n");
        const DType dtype = input_dtype(problem.precision);
        return {{"x", Role::input, {dtype, 1, n, n}, {.b = dtype == DType::i8 ? 32.0 : 1.0}},
                {"y", Role::output, {dtype, 1, n, n}, {}}};
    }
    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        reference::copy(device, input_dtype(problem.precision), buffers[0], problem.axes.at("n"),
                        outputs_f64[0].as<double>());
    }
    Tolerance tolerance(const Problem&) const override { return {}; }  // exact
};

}  // namespace

std::unique_ptr<Op> make_copy() {
    return std::make_unique<Copy>();
}

}  // namespace etalon
