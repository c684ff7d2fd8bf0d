#include "baselines/cublaslt/matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "bench/op.h"

namespace etalon::cublaslt {
namespace {

cudaDataType_t cuda_type(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return CUDA_R_64F;
        case DType::f32:
            return CUDA_R_32F;
        case DType::bf16:
            return CUDA_R_16BF;
        case DType::f16:
            return CUDA_R_16F;
        case DType::e4m3:
            return CUDA_R_8F_E4M3;
        case DType::i8:
            return CUDA_R_8I;
        case DType::i32:
            return CUDA_R_32I;
    }
    throw std::invalid_argument("unknown dtype");
}

cublasComputeType_t compute_type(Precision precision) {
    switch (precision) {
        case Precision::tf32:
            return CUBLAS_COMPUTE_32F_FAST_TF32;
        case Precision::int8:
            return CUBLAS_COMPUTE_32I;
        default:
            return CUBLAS_COMPUTE_32F;
    }
}

cudaDataType_t scale_type(Precision precision) {
    return precision == Precision::int8 ? CUDA_R_32I : CUDA_R_32F;
}

// The largest power of two, up to 256, that divides every address.
std::uint32_t alignment(std::span<const Pointers> sets, auto member) {
    std::uintptr_t bits = 256;
    for (const Pointers& set : sets) bits |= reinterpret_cast<std::uintptr_t>(set.*member);
    return static_cast<std::uint32_t>(bits & (~bits + 1));
}

}  // namespace

Matmul::Matmul(std::shared_ptr<const Context> context, const GemmProblem& problem)
    : context_(std::move(context)),
      problem_(problem),
      desc_(make_desc(api(), compute_type(problem.precision), scale_type(problem.precision))),
      first_(make_layout(api(), cuda_type(input_dtype(problem.precision)), problem.k, problem.n,
                         problem.ld_in)),
      second_(make_layout(api(), cuda_type(input_dtype(problem.precision)), problem.k, problem.m,
                          problem.ld_in)),
      output_(make_layout(api(), cuda_type(output_dtype(problem.precision)), problem.n, problem.m,
                          problem.ld_out)) {
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value,
                         std::string_view what) {
        api().check(api().desc_set(desc_.get(), attribute, &value, sizeof value), what);
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T, "a transposed first operand");
    set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N, "a plain second operand");
    if (problem.precision == Precision::fp8) {
        // Scale pointers stay null, which means 1.
        const std::int8_t fast = problem.fast_accumulate ? 1 : 0;
        set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, fast, "the accumulation mode");
    }
    if (problem.precision == Precision::int8) {
        alpha_.integer = 1;
        beta_.integer = 0;
    } else {
        alpha_.real = 1;
        beta_.real = 0;
    }
}

std::vector<cublasLtMatmulHeuristicResult_t> Matmul::heuristics(std::span<const Pointers> sets,
                                                                std::size_t workspace_bytes) const {
    const auto preference = make_preference(api());
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value,
                         std::string_view what) {
        api().check(api().preference_set(preference.get(), attribute, &value, sizeof value), what);
    };
    const std::uint64_t workspace = workspace_bytes;
    const std::uint32_t first = alignment(sets, &Pointers::b);
    const std::uint32_t second = alignment(sets, &Pointers::a);
    const std::uint32_t output = alignment(sets, &Pointers::c);
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace, "the workspace");
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, first, "the alignment of its A");
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, second, "the alignment of its B");
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, output, "the alignment of its C");
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, output, "the alignment of its D");

    std::vector<cublasLtMatmulHeuristicResult_t> results(heuristics_requested);
    int found = 0;
    const cublasStatus_t status = api().heuristic(
        context_->handle.get(), desc_.get(), first_.get(), second_.get(), output_.get(),
        output_.get(), preference.get(), heuristics_requested, results.data(), &found);
    if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED) {
        api().check(status, "to propose an algorithm");
    }
    results.resize(static_cast<std::size_t>(found));
    std::erase_if(results, [](const auto& r) { return r.state != CUBLAS_STATUS_SUCCESS; });
    if (results.empty()) {
        throw Unsupported(fmt::format("cuBLASLt {} offers no algorithm for m={} n={} k={} in {}",
                                      api().library().version(), problem_.m, problem_.n, problem_.k,
                                      name(problem_.precision)));
    }
    return results;
}

void Matmul::launch(const Pointers& set, const cublasLtMatmulAlgo_t& algorithm, void* workspace,
                    std::size_t workspace_bytes, cudaStream_t stream) const {
    api().check(api().matmul(context_->handle.get(), desc_.get(), &alpha_, set.b, first_.get(),
                             set.a, second_.get(), &beta_, set.c, output_.get(), set.c,
                             output_.get(), &algorithm, workspace, workspace_bytes, stream),
                "to run the product");
}

std::string Matmul::algorithm_text(const cublasLtMatmulAlgo_t& algorithm) const {
    struct Attribute {
        const char* name;
        cublasLtMatmulAlgoConfigAttributes_t key;
    };
    static constexpr std::array attributes = {
        Attribute{"id", CUBLASLT_ALGO_CONFIG_ID},
        Attribute{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID},
        Attribute{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID},
        Attribute{"split_k", CUBLASLT_ALGO_CONFIG_SPLITK_NUM},
        Attribute{"reduction", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME},
        Attribute{"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING},
        Attribute{"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION},
        Attribute{"inner_shape", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID},
        Attribute{"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID},
    };
    std::string text;
    for (const Attribute& attribute : attributes) {
        // Asked for its size first: some are 16 bits wide, the rest 32. x86-64 and Arm are
        // little-endian, so the low bytes of `value` are right for both.
        std::uint32_t value = 0;
        std::size_t bytes = 0;
        if (api().algo_config(&algorithm, attribute.key, nullptr, 0, &bytes) !=
                CUBLAS_STATUS_SUCCESS ||
            bytes > sizeof value ||
            api().algo_config(&algorithm, attribute.key, &value, bytes, &bytes) !=
                CUBLAS_STATUS_SUCCESS) {
            continue;
        }
        text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", attribute.name, value);
    }
    return "{" + text + "}";
}

}  // namespace etalon::cublaslt
