// What softmax and the norms have in common: rows × cols in, the same out.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/op.h"
#include "bench/reference.h"

namespace etalon {

class RowOp : public Op {
   public:
    std::vector<AxisSpec> axes() const override {
        return {{.name = "rows", .max = std::int64_t{1} << 30, .help = "rows (tokens)"},
                {.name = "cols", .max = std::int64_t{1} << 24, .help = "columns, reduced over"},
                {.name = "pad",
                 .optional = true,
                 .min = 0,
                 .max = 4096,
                 .help = "elements between rows of x and y"}};
    }
    std::vector<Precision> precisions() const override {
        return {Precision::fp32, Precision::bf16, Precision::fp16};
    }
    std::string_view baseline(DeviceKind kind) const override {
        return kind == DeviceKind::cuda ? "cudnn" : "onednn";
    }
    double prior_elasticity(const Problem&) const override { return 0.1; }

   protected:
    static double elements(const Problem& problem) {
        return static_cast<double>(problem.axes.at("rows")) *
               static_cast<double>(problem.axes.at("cols"));
    }
    // x read, y written, and `vectors` parameter vectors of cols elements read.
    static double bytes(const Problem& problem, int vectors) {
        return (2 * elements(problem) + vectors * static_cast<double>(problem.axes.at("cols"))) *
               static_cast<double>(bytes_of(input_dtype(problem.precision)));
    }
    static Layout matrix(const Problem& problem) {
        const std::int64_t cols = problem.axes.at("cols");
        return {input_dtype(problem.precision), problem.axes.at("rows"), cols,
                cols + problem.axes.at("pad")};
    }
    static Layout vector(const Problem& problem) {
        const std::int64_t cols = problem.axes.at("cols");
        return {input_dtype(problem.precision), 1, cols, cols};
    }
    static reference::Rows rows(const Problem& problem, const void* x) {
        return {.precision = problem.precision,
                .x = x,
                .rows = problem.axes.at("rows"),
                .cols = problem.axes.at("cols"),
                .ldx = problem.axes.at("cols") + problem.axes.at("pad")};
    }
};

}  // namespace etalon
