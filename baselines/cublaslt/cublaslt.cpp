// cuBLASLt as a provider of `gemm`: every heuristic it offers is timed, and the first is left only
// for a gain over 2 %.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <map>

#include "baselines/common/choose.h"
#include "baselines/cublaslt/cublaslt_library.h"
#include "baselines/cublaslt/gemm_problem.h"
#include "baselines/cublaslt/matmul.h"
#include "bench/providers.h"

namespace etalon {
namespace {

// NVIDIA recommends 32 MiB on Hopper; twice that leaves split-K no excuse. Fixed, so that the
// heuristics of two nights are asked the same question.
constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

class PreparedGemm final : public Prepared {
   public:
    PreparedGemm(std::shared_ptr<const cublaslt::Context> context, std::string_view earlier,
                 const Case& key, Device& device, std::span<const BufferSet> sets)
        : problem_(cublaslt::gemm_problem(key)), matmul_(std::move(context), problem_) {
        for (const BufferSet& set : sets) {
            sets_.push_back({set[0].data(), set[1].data(), set[2].data()});
        }
        const std::vector<cublasLtMatmulHeuristicResult_t> offers =
            matmul_.heuristics(sets_, workspace_bytes);
        workspace_ = device.allocate(workspace_bytes);

        std::vector<Launch> candidates;
        for (const cublasLtMatmulHeuristicResult_t& offer : offers) {
            candidates.push_back([this, &offer](Stream stream, std::size_t set) {
                enqueue(offer.algo, stream, set);
            });
        }
        for (std::size_t i = 0; i < offers.size(); ++i) {
            if (!earlier.starts_with(described_as(offers[i].algo))) continue;
            if (!can_launch(device, candidates[i])) break;
            algorithm_ = offers[i].algo;
            description_ = earlier;
            return;
        }
        const bool first = key.variant == "first";
        const Choice choice = first ? choose_first(device, candidates)
                                    : choose_fastest(device, key.l2, sets.size(), candidates);
        const cublasLtMatmulHeuristicResult_t& chosen = offers[choice.index];
        algorithm_ = chosen.algo;
        description_ = fmt::format(
            R"({}"heuristics_offered":{},"refused":{},"chosen":{},)"
            R"("gain_over_first":{:.4f},"workspace_bytes":{},"workspace_used_bytes":{},)"
            R"("fast_accumulate":{}}})",
            described_as(algorithm_), offers.size(), choice.refused, choice.index,
            choice.index == choice.first ? 0.0 : choice.gain, workspace_bytes, chosen.workspaceSize,
            problem_.fast_accumulate);
    }

    void launch(Stream stream, std::size_t set) override { enqueue(algorithm_, stream, set); }
    [[nodiscard]] std::string describe() const override { return description_; }

   private:
    // How a description begins: what tells one algorithm from another.
    [[nodiscard]] std::string described_as(const cublasLtMatmulAlgo_t& algorithm) const {
        return fmt::format(R"({{"algorithm":{},)", matmul_.algorithm_text(algorithm));
    }
    void enqueue(const cublasLtMatmulAlgo_t& algorithm, Stream stream, std::size_t set) const {
        matmul_.launch(sets_[set], algorithm, workspace_.data(), workspace_bytes,
                       static_cast<cudaStream_t>(stream.handle));
    }

    cublaslt::GemmProblem problem_;
    cublaslt::Matmul matmul_;
    std::vector<cublaslt::Pointers> sets_;
    Buffer workspace_;
    cublasLtMatmulAlgo_t algorithm_{};
    std::string description_;
};

class CublasltGemm final : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "cublaslt"; }
    [[nodiscard]] std::string_view op() const override { return "gemm"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::vector<std::string> variants() const override {
        return {"first", "fastaccum"};
    }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        if (!problem_) problem_ = cublaslt_problem();
        if (!problem_->empty()) return problem_;
        return cublaslt::unsupported(cublaslt::gemm_problem(key), device.info().compute_capability);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return prepare_like("", key, device, sets);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare_like(
        std::string_view earlier, const Case& key, Device& device,
        std::span<const BufferSet> sets) const override {
        std::shared_ptr<const cublaslt::Context>& context = contexts_[device.info().id];
        if (!context) context = std::make_shared<const cublaslt::Context>();
        return std::make_unique<PreparedGemm>(context, earlier, key, device, sets);
    }

   private:
    // Looked up once, when first asked: listing the providers opens nothing.
    mutable std::optional<std::string> problem_;
    mutable std::map<std::string, std::shared_ptr<const cublaslt::Context>> contexts_;
};

}  // namespace

Providers cublaslt_providers() {
    Providers providers;
    providers.push_back(std::make_unique<CublasltGemm>());
    return providers;
}

}  // namespace etalon
