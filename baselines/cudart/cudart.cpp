// copy by the CUDA runtime: cudaMemcpyAsync, device to device.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "bench/per_set.h"
#include "bench/providers.h"

namespace etalon {
namespace {

void enqueue(const Transfer& t, Stream stream) {
    const cudaError_t status = cudaMemcpyAsync(t.to, t.from, t.bytes, cudaMemcpyDeviceToDevice,
                                               static_cast<cudaStream_t>(stream.handle));
    if (status != cudaSuccess) {
        throw device_error(fmt::format("cudaMemcpyAsync of {} bytes was refused: {}", t.bytes,
                                       cudaGetErrorString(status)));
    }
}

class CudartCopy final : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "cudart"; }
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::cuda; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        return per_set(transfers(sets), &enqueue, R"({"call":"cudaMemcpyAsync"})");
    }
};

}  // namespace

Providers cudart_providers() {
    Providers providers;
    providers.push_back(std::make_unique<CudartCopy>());
    return providers;
}

}  // namespace etalon
