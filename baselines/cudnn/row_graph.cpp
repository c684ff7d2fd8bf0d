#include "baselines/cudnn/row_graph.h"

#include <fmt/format.h>

#include "baselines/cudnn/frontend.h"

namespace etalon::cudnn {
namespace {

// Tensors are numbered in the op's order, from 1.
class Builder {
   public:
    Builder(fe::graph::Graph& graph, const RowProblem& problem) : graph_(graph), problem_(problem) {
        graph.set_io_data_type(data_type(input_dtype(problem.precision)))
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    void build() {
        switch (problem_.op) {
            case RowOp::softmax:
                return softmax();
            case RowOp::rmsnorm:
                return rmsnorm();
            case RowOp::layernorm:
                return layernorm();
        }
    }

   private:
    using Sizes = std::vector<std::int64_t>;

    Tensor input(const char* name, Sizes dim, Sizes stride) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_uid(++uid_)
                                 .set_dim(std::move(dim))
                                 .set_stride(std::move(stride)));
    }
    void output(const Tensor& tensor, Sizes dim, Sizes stride) {
        tensor->set_name("y")
            .set_output(true)
            .set_uid(++uid_)
            .set_data_type(data_type(output_dtype(problem_.precision)))
            .set_dim(std::move(dim))
            .set_stride(std::move(stride));
    }

    // The norms reduce over every dimension but the first.
    [[nodiscard]] Sizes norm_dim() const { return {problem_.rows, problem_.cols, 1, 1}; }
    [[nodiscard]] Sizes norm_stride() const { return {problem_.ld, 1, problem_.ld, problem_.ld}; }
    Tensor vector(const char* name) {
        const std::int64_t cols = problem_.cols;
        return input(name, {1, cols, 1, 1}, {cols, 1, cols, cols});
    }

    void rmsnorm() {
        const Tensor x = input("x", norm_dim(), norm_stride());
        const Tensor weight = vector("weight");
        Tensor epsilon = graph_.tensor(norm_epsilon);
        const auto outputs = graph_.rmsnorm(x, weight,
                                            fe::graph::Rmsnorm_attributes()
                                                .set_forward_phase(fe::NormFwdPhase_t::INFERENCE)
                                                .set_epsilon(epsilon));
        output(outputs[0], norm_dim(), norm_stride());
    }

    void layernorm() {
        const Tensor x = input("x", norm_dim(), norm_stride());
        const Tensor weight = vector("weight");
        const Tensor bias = vector("bias");
        Tensor epsilon = graph_.tensor(norm_epsilon);
        const auto outputs = graph_.layernorm(x, weight, bias,
                                              fe::graph::Layernorm_attributes()
                                                  .set_forward_phase(fe::NormFwdPhase_t::INFERENCE)
                                                  .set_epsilon(epsilon));
        output(outputs[0], norm_dim(), norm_stride());
    }

    void softmax() {
        const Sizes dim = {1, problem_.rows, problem_.cols};
        const Sizes stride = {problem_.rows * problem_.ld, problem_.ld, 1};
        const auto pointwise = [](fe::PointwiseMode_t mode) {
            return fe::graph::Pointwise_attributes().set_mode(mode);
        };
        const auto reduce = [&](const Tensor& of, fe::ReductionMode_t mode) {
            Tensor row = graph_.reduction(of, fe::graph::Reduction_attributes().set_mode(mode));
            row->set_dim({1, problem_.rows, 1}).set_stride({problem_.rows, 1, 1});
            return row;
        };
        const Tensor x = input("x", dim, stride);
        const Tensor largest = reduce(x, fe::ReductionMode_t::MAX);
        const Tensor shifted = graph_.pointwise(x, largest, pointwise(fe::PointwiseMode_t::SUB));
        const Tensor power = graph_.pointwise(shifted, pointwise(fe::PointwiseMode_t::EXP));
        const Tensor sum = reduce(power, fe::ReductionMode_t::ADD);
        output(graph_.pointwise(power, sum, pointwise(fe::PointwiseMode_t::DIV)), dim, stride);
    }

    fe::graph::Graph& graph_;
    const RowProblem& problem_;
    std::int64_t uid_ = 0;
};

}  // namespace

Definition row_definition(const RowProblem& problem) {
    return {fmt::format("{} of {} x {} in {}{}", name(problem.op), problem.rows, problem.cols,
                        etalon::name(problem.precision),
                        problem.ld == problem.cols ? "" : fmt::format(", {} apart", problem.ld)),
            [problem](fe::graph::Graph& graph) { Builder(graph, problem).build(); }};
}

}  // namespace etalon::cudnn
