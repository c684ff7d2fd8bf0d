// Binds kernels/attention to the ops: provider "etalon" on CUDA devices. Variant `simple` is the
// plain kernel.

#include <fmt/format.h>

#include "bench/attention_problem.h"
#include "bench/providers.h"
#include "kernels/attention/attention_plan.h"

namespace etalon {
namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        throw device_error(
            fmt::format("the attention kernel was refused: {}", cudaGetErrorString(status)));
    }
}

class PreparedAttention final : public Prepared {
   public:
    PreparedAttention(const Case& key, Device& device, std::span<const BufferSet> sets)
        : tables_(attention_problem(key.problem), device) {
        const kernels::AttentionWay way = key.variant == "simple" ? kernels::AttentionWay::simple
                                                                  : kernels::AttentionWay::fastest;
        for (const BufferSet& set : sets) plans_.emplace_back(tables_.arguments(set), way);
        const kernels::AttentionPlan& plan = plans_.front();
        if (plan.unsupported() != nullptr) throw Unsupported(plan.unsupported());
        if (const std::size_t bytes = plan.workspace_bytes(); bytes > 0) {
            workspace_ = device.allocate(bytes);
            const auto stream = static_cast<cudaStream_t>(device.stream().handle);
            check(cudaMemsetAsync(workspace_.data(), 0, bytes, stream));
        }
        description_ = fmt::format(R"({{"kernel":"{}","blocks":{},"workspace_bytes":{}}})",
                                   plan.kernel_name(), plan.blocks(), plan.workspace_bytes());
    }
    void launch(Stream stream, std::size_t set) override {
        check(plans_[set].launch(workspace_.data(), static_cast<cudaStream_t>(stream.handle)));
    }
    [[nodiscard]] std::string describe() const override { return description_; }

   private:
    AttentionTables tables_;
    std::vector<kernels::AttentionPlan> plans_;
    Buffer workspace_;
    std::string description_;
};

class AttentionProvider final : public Provider {
   public:
    explicit AttentionProvider(std::string_view op) : op_(op) {}
    [[nodiscard]] std::string_view name() const override { return "etalon"; }
    [[nodiscard]] std::string_view op() const override { return op_; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::vector<std::string> variants() const override { return {"simple"}; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key, Device&) const override {
        return attention_misfit(key.problem);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return std::make_unique<PreparedAttention>(key, device, sets);
    }

   private:
    std::string_view op_;
};

}  // namespace

Providers attention_cuda_providers() {
    Providers providers;
    for (const char* op : {"attention_prefill", "attention_decode"}) {
        providers.push_back(std::make_unique<AttentionProvider>(op));
    }
    return providers;
}

}  // namespace etalon
