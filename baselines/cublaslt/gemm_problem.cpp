#include "baselines/cublaslt/gemm_problem.h"

#include <fmt/format.h>

namespace etalon::cublaslt {
namespace {

int least_capability(Precision precision) {
    switch (precision) {
        case Precision::fp8:
            return 89;
        case Precision::bf16:
        case Precision::tf32:
            return 80;
        case Precision::int8:
            return 75;
        default:
            return 0;
    }
}

std::optional<std::string> not_multiple(const char* what, std::int64_t value, std::int64_t of,
                                        std::string_view why) {
    if (value % of == 0) return std::nullopt;
    return fmt::format("cuBLASLt takes {} only with {} a multiple of {}, not {}", why, what, of,
                       value);
}

}  // namespace

GemmProblem gemm_problem(const Case& key) {
    const Axes& axes = key.problem.axes;
    const std::int64_t pad = axes.at("pad");
    return {.precision = key.problem.precision,
            .m = axes.at("m"),
            .n = axes.at("n"),
            .k = axes.at("k"),
            .ld_in = axes.at("k") + pad,
            .ld_out = axes.at("n") + pad,
            .fast_accumulate = key.variant == "fastaccum"};
}

std::optional<std::string> unsupported(const GemmProblem& problem, int compute_capability) {
    if (compute_capability < least_capability(problem.precision)) {
        const int least = least_capability(problem.precision);
        return fmt::format("{} needs compute capability {}.{}; this device has {}.{}",
                           name(problem.precision), least / 10, least % 10, compute_capability / 10,
                           compute_capability % 10);
    }
    if (problem.fast_accumulate && problem.precision != Precision::fp8) {
        return fmt::format("fast accumulation exists for fp8, not for {}", name(problem.precision));
    }
    if (problem.precision == Precision::fp8) {
        if (auto why = not_multiple("k", problem.k, 16, "fp8")) return why;
        if (auto why = not_multiple("the inputs' row of k + pad", problem.ld_in, 16, "fp8")) {
            return why;
        }
        // Eight bf16 are 16 bytes.
        return not_multiple("the output's row of n + pad", problem.ld_out, 8, "fp8");
    }
    if (problem.precision == Precision::int8) {
        if (auto why = not_multiple("k", problem.k, 4, "int8")) return why;
        if (auto why = not_multiple("n", problem.n, 4, "int8")) return why;
        return not_multiple("pad", problem.ld_in - problem.k, 4, "int8");
    }
    return std::nullopt;
}

}  // namespace etalon::cublaslt
