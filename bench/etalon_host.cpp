// Binds kernels/host to the ops: provider "etalon" on the CPU.

#include <fmt/format.h>

#include <vector>

#include "bench/providers.h"
#include "kernels/host/host_kernels.h"

namespace etalon {
namespace {

namespace host = kernels::host;

host::Type host_type(Precision precision) {
    return precision == Precision::bf16 ? host::Type::bf16 : host::Type::fp32;
}

template <typename Args>
class Kernel final : public Prepared {
   public:
    using Function = void (*)(const Args&);
    Kernel(Function function, std::vector<Args> args, std::string_view kernel)
        : function_(function), args_(std::move(args)), kernel_(kernel) {}
    void launch(Stream, std::size_t set) override { function_(args_[set]); }
    [[nodiscard]] std::string describe() const override {
        return fmt::format(R"({{"kernel":"{}"}})", kernel_);
    }

   private:
    Function function_;
    std::vector<Args> args_;
    std::string kernel_;
};

class HostProvider : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "etalon"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        const Precision precision = key.problem.precision;
        if (precision == Precision::bf16 && !device.info().bf16) {
            return "this CPU has no bf16 instructions (avx512_bf16)";
        }
        if (precision != Precision::fp32 && precision != Precision::bf16) {
            return fmt::format("no CPU kernel for {}; the host device measures fp32 and bf16",
                               etalon::name(precision));
        }
        return std::nullopt;
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
        return std::make_unique<Kernel<host::GemmArgs>>(&host::gemm, std::move(args),
                                                        host::gemm_kernel_name(type));
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
        return std::make_unique<Kernel<host::SoftmaxArgs>>(&host::softmax, std::move(args),
                                                           host::instruction_set());
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
        return std::make_unique<Kernel<host::NormArgs>>(
            layernorm_ ? &host::layernorm : &host::rmsnorm, std::move(args),
            host::instruction_set());
    }

   private:
    bool layernorm_;
};

struct CopyArgs {
    void* to;
    const void* from;
    std::size_t bytes;
};

class HostCopy final : public HostProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;  // bytes are bytes
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        std::vector<CopyArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({set[1].data(), set[0].data(), set[0].bytes()});
        }
        return std::make_unique<Kernel<CopyArgs>>(
            [](const CopyArgs& a) { host::copy(a.to, a.from, a.bytes); }, std::move(args),
            "stream");
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
