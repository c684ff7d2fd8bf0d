// gemm: C[m,n] = A[m,k] · B[n,k]ᵀ, row-major, the linear layer of every LLM step (m = tokens).

#include <cmath>

#include "bench/ops.h"
#include "bench/reference.h"
#include "bench/tolerance.h"

namespace etalon {
namespace {

class Gemm final : public Op {
   public:
    std::string_view name() const override { return "gemm"; }
    std::string_view summary() const override { return "C[m,n] = A[m,k] * B[n,k]^T"; }

    std::vector<AxisSpec> axes() const override {
        constexpr std::int64_t most = std::int64_t{1} << 24;
        return {{.name = "m", .max = most, .help = "rows of A and C (tokens)"},
                {.name = "n", .max = most, .help = "rows of B, columns of C"},
                {.name = "k", .max = most, .help = "reduction length"},
                {.name = "pad",
                 .optional = true,
                 .min = 0,
                 .max = 4096,
                 .help = "elements between rows of every matrix"}};
    }
    std::vector<Precision> precisions() const override {
        return {all_precisions.begin(), all_precisions.end()};
    }
    std::string_view baseline(DeviceKind kind) const override {
        return kind == DeviceKind::cuda ? "cublaslt" : "onednn";
    }

    // Compute-bound well above the ridge of today's cards, memory-bound well below it.
    double prior_elasticity(const Problem& problem) const override {
        const Work w = work(problem);
        const double above_ridge = std::log2(w.flop / w.bytes_min / 128);
        return std::clamp(0.5 + 0.2 * above_ridge, 0.1, 0.9);
    }

    Work work(const Problem& problem) const override {
        const double m = size(problem, "m"), n = size(problem, "n"), k = size(problem, "k");
        const auto in = static_cast<double>(bytes_of(input_dtype(problem.precision)));
        const auto out = static_cast<double>(bytes_of(output_dtype(problem.precision)));
        return {.flop = 2 * m * n * k, .bytes_min = (m * k + n * k) * in + m * n * out};
    }

    std::vector<TensorSpec> tensors(const Problem& problem) const override {
        const std::int64_t m = problem.axes.at("m"), n = problem.axes.at("n"),
                           k = problem.axes.at("k"), pad = problem.axes.at("pad");
        const DType in = input_dtype(problem.precision);
        const DType out = output_dtype(problem.precision);
        // int8 uses most of its range; sums stay far inside 32 bits for every k allowed.
        const Fill fill{.b = in == DType::i8 ? 32.0 : 1.0};
        return {{"a", Role::input, {in, m, k, k + pad}, fill},
                {"b", Role::input, {in, n, k, k + pad}, fill},
                {"c", Role::output, {out, m, n, n + pad}, {}}};
    }

    void reference(Device& device, const Problem& problem, const BufferSet& buffers,
                   std::span<const Buffer> outputs_f64) const override {
        const std::int64_t k = problem.axes.at("k"), ld = k + problem.axes.at("pad");
        reference::gemm(device,
                        {problem.precision, buffers[0].data(), buffers[1].data(),
                         problem.axes.at("m"), problem.axes.at("n"), k, ld, ld},
                        outputs_f64[0].as<double>());
    }

    Tolerance tolerance(const Problem& problem) const override {
        if (problem.precision == Precision::int8) return {};  // exact
        const std::int64_t k = problem.axes.at("k");
        double relative = unit_roundoff(output_dtype(problem.precision));
        switch (problem.precision) {
            case Precision::tf32:
                // Hardware drops 13 mantissa bits of both inputs: up to 2^-10 each, of one sign.
                relative += 0x1p-9 + accumulation_error(k, fp32_roundoff);
                break;
            case Precision::fp8:
                // Hopper's fp8 accumulator keeps about 14 bits (DeepSeek-V3, arXiv
                // 2412.19437, 3.3.2).
                relative += accumulation_error(k, 0x1p-15);
                break;
            default:
                relative += accumulation_error(k, fp32_roundoff);
        }
        return {relative, relative * largest_normal(size(problem, "m") * size(problem, "n"))};
    }

   private:
    static double size(const Problem& problem, std::string_view axis) {
        return static_cast<double>(problem.axes.at(axis));
    }
};

}  // namespace

std::unique_ptr<Op> make_gemm() {
    return std::make_unique<Gemm>();
}

}  // namespace etalon
