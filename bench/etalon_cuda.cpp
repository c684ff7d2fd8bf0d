// Binds kernels/ to the ops: provider "etalon" on CUDA devices.

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "bench/cuda_types.h"
#include "bench/per_set.h"
#include "bench/providers.h"
#include "kernels/copy/copy.h"
#include "kernels/gemm/gemm_plan.h"
#include "kernels/norm/norm.h"
#include "kernels/softmax/softmax.h"

namespace etalon {
namespace {

void check(cudaError_t status, std::string_view what) {
    if (status != cudaSuccess) {
        throw device_error(
            fmt::format("the {} kernel was refused: {}", what, cudaGetErrorString(status)));
    }
}

// Calls a kernel's function with the arguments of the set.
template <typename Args>
std::unique_ptr<Prepared> kernel(std::string_view name, std::vector<Args> args,
                                 cudaError_t (*function)(const Args&, cudaStream_t),
                                 std::string description) {
    return per_set(
        std::move(args),
        [name = std::string(name), function](const Args& of_set, Stream stream) {
            check(function(of_set, static_cast<cudaStream_t>(stream.handle)), name);
        },
        std::move(description));
}

class EtalonProvider : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "etalon"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;
    }

   protected:
    static std::int64_t axis(const Case& key, std::string_view name) {
        return key.problem.axes.at(name);
    }
};

class CopyProvider final : public EtalonProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        return kernel<Transfer>(
            "copy", transfers(sets),
            [](const Transfer& t, cudaStream_t stream) {
                return kernels::copy(t.to, t.from, t.bytes, stream);
            },
            R"({"kernel":"copy"})");
    }
};

class SoftmaxProvider final : public EtalonProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "softmax"; }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        const std::int64_t ld = axis(key, "cols") + axis(key, "pad");
        std::vector<kernels::SoftmaxArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({row_type(key.problem.precision), set[0].data(), set[1].data(),
                            axis(key, "rows"), axis(key, "cols"), ld, ld});
        }
        return kernel<kernels::SoftmaxArgs>("softmax", std::move(args), &kernels::softmax,
                                            R"({"kernel":"softmax"})");
    }
};

class NormProvider final : public EtalonProvider {
   public:
    explicit NormProvider(bool layernorm) : layernorm_(layernorm) {}
    [[nodiscard]] std::string_view op() const override {
        return layernorm_ ? "layernorm" : "rmsnorm";
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        const std::int64_t ld = axis(key, "cols") + axis(key, "pad");
        std::vector<kernels::NormArgs> args;
        for (const BufferSet& set : sets) {
            args.push_back({row_type(key.problem.precision), set[0].data(), set[1].data(),
                            layernorm_ ? set[2].data() : nullptr, set.back().data(),
                            axis(key, "rows"), axis(key, "cols"), ld, ld});
        }
        return kernel<kernels::NormArgs>(op(), std::move(args),
                                         layernorm_ ? &kernels::layernorm : &kernels::rmsnorm,
                                         fmt::format(R"({{"kernel":"{}"}})", op()));
    }

   private:
    bool layernorm_;
};

class GemmProvider final : public EtalonProvider {
   public:
    [[nodiscard]] std::string_view op() const override { return "gemm"; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case& key,
                                                         Device& device) const override {
        const char* reason =
            kernels::gemm_unsupported(arguments(key, nullptr), device.info().compute_capability);
        return reason == nullptr ? std::nullopt : std::optional<std::string>(reason);
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device&, std::span<const BufferSet> sets) const override {
        std::vector<kernels::GemmPlan> plans;
        for (const BufferSet& set : sets) plans.emplace_back(arguments(key, &set));
        const kernels::GemmSchedule& schedule = plans.front().schedule();
        std::string description = fmt::format(
            R"({{"kernel":"{}","split_k":{},"shared":{},"stages":{}}})",
            plans.front().kernel_name(), schedule.split, schedule.shared, schedule.stages);
        return kernel<kernels::GemmPlan>(
            "gemm", std::move(plans),
            [](const kernels::GemmPlan& plan, cudaStream_t s) { return plan.launch(s); },
            std::move(description));
    }

   private:
    static kernels::GemmArgs arguments(const Case& key, const BufferSet* set) {
        const std::int64_t k = axis(key, "k"), n = axis(key, "n"), pad = axis(key, "pad");
        kernels::GemmArgs args;
        args.type = gemm_type(key.problem.precision);
        // Before there are buffers, an address that is aligned as theirs will be.
        void* const any = reinterpret_cast<void*>(std::uintptr_t{256});
        args.a = set != nullptr ? (*set)[0].data() : any;
        args.b = set != nullptr ? (*set)[1].data() : any;
        args.c = set != nullptr ? (*set)[2].data() : any;
        args.m = axis(key, "m");
        args.n = n;
        args.k = k;
        args.lda = args.ldb = k + pad;
        args.ldc = n + pad;
        return args;
    }
};

}  // namespace

Providers etalon_cuda_providers() {
    Providers providers;
    providers.push_back(std::make_unique<CopyProvider>());
    providers.push_back(std::make_unique<GemmProvider>());
    providers.push_back(std::make_unique<SoftmaxProvider>());
    providers.push_back(std::make_unique<NormProvider>(false));
    providers.push_back(std::make_unique<NormProvider>(true));
    return providers;
}

}  // namespace etalon
