// Binds kernels/host's attention to the ops: provider "etalon" on the CPU.

#include <fmt/format.h>

#include "bench/attention_problem.h"
#include "bench/host_precision.h"
#include "bench/providers.h"
#include "kernels/host/host_kernels.h"

namespace etalon {
namespace {

class PreparedAttention final : public Prepared {
   public:
    PreparedAttention(const Case& key, Device& device, std::span<const BufferSet> sets)
        : tables_(attention_problem(key.problem), device) {
        for (const BufferSet& set : sets) args_.push_back(tables_.arguments(set));
    }
    void launch(Stream, std::size_t set) override { kernels::host::attention(args_[set]); }
    [[nodiscard]] std::string describe() const override {
        return fmt::format(R"({{"kernel":"{}"}})", kernels::host::instruction_set());
    }

   private:
    AttentionTables tables_;
    std::vector<kernels::AttentionArgs> args_;
};

class HostAttention final : public Provider {
   public:
    explicit HostAttention(std::string_view op) : op_(op) {}
    [[nodiscard]] std::string_view name() const override { return "etalon"; }
    [[nodiscard]] std::string_view op() const override { return op_; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        if (auto misfit = attention_misfit(key.problem)) return misfit;
        return unmeasured_on_host(key.problem.precision, device.info());
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        return std::make_unique<PreparedAttention>(key, device, sets);
    }

   private:
    std::string_view op_;
};

}  // namespace

Providers attention_host_providers() {
    Providers providers;
    for (const char* op : {"attention_prefill", "attention_decode"}) {
        providers.push_back(std::make_unique<HostAttention>(op));
    }
    return providers;
}

}  // namespace etalon
