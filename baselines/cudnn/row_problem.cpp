#include "baselines/cudnn/row_problem.h"

#include <fmt/format.h>

#include <limits>

namespace etalon::cudnn {

std::string_view name(RowOp op) {
    switch (op) {
        case RowOp::softmax:
            return "softmax";
        case RowOp::rmsnorm:
            return "rmsnorm";
        case RowOp::layernorm:
            return "layernorm";
    }
    return "";
}

RowProblem row_problem(RowOp op, const Case& key) {
    const Axes& axes = key.problem.axes;
    return {.op = op,
            .precision = key.problem.precision,
            .rows = axes.at("rows"),
            .cols = axes.at("cols"),
            .ld = axes.at("cols") + axes.at("pad")};
}

std::optional<std::string> unsupported(const RowProblem& problem) {
    switch (problem.precision) {
        case Precision::fp32:
        case Precision::bf16:
        case Precision::fp16:
            break;
        default:
            return fmt::format("cuDNN computes {} in fp32, bf16 and fp16, not in {}",
                               name(problem.op), etalon::name(problem.precision));
    }
    // cuDNN 9.19 takes a norm's columns to be all elements from the first to the last over the
    // rows, and refuses the weight where that differs; a pad of 1 slips through this check.
    if (problem.op != RowOp::softmax && problem.rows > 1 && problem.ld != problem.cols) {
        return fmt::format(
            "cuDNN computes {} on packed rows only; these are {} apart and have {} "
            "columns",
            name(problem.op), problem.ld, problem.cols);
    }
    return std::nullopt;
}

bool fits_legacy_descriptor(const RowProblem& problem) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    return problem.rows <= most && problem.ld <= most;
}

}  // namespace etalon::cudnn
