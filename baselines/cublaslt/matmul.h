// One GEMM described to cuBLASLt: layouts, preference, the heuristics it offers, and its launch.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baselines/cublaslt/cublaslt_api.h"
#include "baselines/cublaslt/gemm_problem.h"

namespace etalon::cublaslt {

inline constexpr int heuristics_requested = 32;

struct Pointers {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;
};

class Matmul {
   public:
    Matmul(std::shared_ptr<const Context> context, const GemmProblem& problem);

    // What the library offers for these pointers (all sets: the least alignment counts), best guess
    // first. Throws Unsupported when it offers nothing.
    [[nodiscard]] std::vector<cublasLtMatmulHeuristicResult_t> heuristics(
        std::span<const Pointers> sets, std::size_t workspace_bytes) const;

    // Enqueues the product. Throws a device Error when it is refused.
    void launch(const Pointers& set, const cublasLtMatmulAlgo_t& algorithm, void* workspace,
                std::size_t workspace_bytes, cudaStream_t stream) const;

    // JSON object: id, tile, stages, split_k, reduction, swizzle, custom, inner_shape, cluster.
    [[nodiscard]] std::string algorithm_text(const cublasLtMatmulAlgo_t& algorithm) const;
    [[nodiscard]] const Api& api() const { return context_->api; }

   private:
    // alpha = 1 and beta = 0 in the scale type.
    union Scalar {
        float real;
        std::int32_t integer;
    };
    std::shared_ptr<const Context> context_;
    GemmProblem problem_;
    Owner<cublasLtMatmulDesc_t> desc_;
    // In column-major terms Cᵀ[n,m] = B[n,k] · A[m,k]ᵀ, so the library's first operand is our B.
    Owner<cublasLtMatrixLayout_t> first_, second_, output_;
    Scalar alpha_, beta_;
};

}  // namespace etalon::cublaslt
