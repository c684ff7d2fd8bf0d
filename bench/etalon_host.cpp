// Binds kernels/host to the ops: provider "etalon" on the CPU.

#include <fmt/format.h>

#include <vector>

#include "bench/host_precision.h"
#include "bench/per_set.h"
#include "bench/providers.h"
#include "kernels/host/host_kernels.h"

namespace etalon {
namespace {

namespace host = kernels::host;

host::Type host_type(Precision precision) {
    return precision == Precision::bf16 ? host::Type::bf16 : host::Type::fp32;
}

// Calls a kernel's function with the arguments of the set.
template <typename Args>
std::unique_ptr<Prepared> kernel(void (*function)(const Args&), std::vector<Args> args,
                                 std::string_view name) {
    return per_set(
        std::move(args), [function](const Args& of_set, Stream) { function(of_set); },
        fmt::format(R"({{"kernel":"{}"}})", name));
}

class HostProvider : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "etalon"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        return unmeasured_on_host(key.problem.precision, device.info());
    }

   protected:
    static std::int64_t axis(const Case& key, std::string_view name) {
        return key.problem.axes.at(name);
    }
};

class HostGemm final : public HostProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "gemm"; }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        const std::int64_t m = axis(key, "m"), n = axis(key, "n"), k = axis(key, "k"),
                           pad = axis(key, "pad");
        const host::Type type = host_type(key.problem.precision);
        std::vector<host::GemmArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({type, set[0].data(), set[1].data(), set[2].data(), m, n, k, k + pad,
                            k + pad, n + pad});
        }
        return kernel<host::GemmArgs>(&host::gemm, std::move(args), host::gemm_kernel_name(type));
    }
};

class HostSoftmax final : public HostProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "softmax"; }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        const std::int64_t cols = axis(key, "cols"), ld = cols + axis(key, "pad");
        std::vector<host::SoftmaxArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({host_type(key.problem.precision), set[0].data(), set[1].data(),
                            axis(key, "rows"), cols, ld, ld});
        }
        return kernel<host::SoftmaxArgs>(&host::softmax, std::move(args), host::instruction_set());
    }
};

class HostNorm final : public HostProvider {
   public:
    explicit HostNorm(bool layernorm) : layernorm_(layernorm) {}
    [[nodiscard]] std::string_view op() const override {
        return layernorm_ ? "layernorm" : "rmsnorm";
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        const std::int64_t cols = axis(key, "cols"), ld = cols + axis(key, "pad");
        std::vector<host::NormArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({host_type(key.problem.precision), set[0].data(), set[1].data(),
                            layernorm_ ? set[2].data() : nullptr, set.back().data(),
                            axis(key, "rows"), cols, ld, ld});
        }
        return kernel<host::NormArgs>(layernorm_ ? &host::layernorm : &host::rmsnorm,
                                      std::move(args), host::instruction_set());
    }

   private:
    bool layernorm_;
};

class HostCopy final : public HostProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;  // bytes are bytes
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        return kernel<Transfer>([](const Transfer& t) { host::copy(t.to, t.from, t.bytes); },
                                transfers(sets), "stream");
    }
};

}  // namespace

Providers etalon_host_providers() {
    Providers providers;
    providers.push_back(std::make_unique<HostCopy>());
    providers.push_back(std::make_unique<HostGemm>());
    providers.push_back(std::make_unique<HostSoftmax>());
    providers.push_back(std::make_unique<HostNorm>(false));
    providers.push_back(std::make_unique<HostNorm>(true));
    return providers;
}

}  // namespace etalon
