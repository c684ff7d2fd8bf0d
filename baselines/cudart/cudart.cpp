// copy by the CUDA runtime: cudaMemcpyAsync, device to device.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <vector>

#include "bench/providers.h"

namespace etalon {
namespace {

struct Transfer {
    void* to;
    const void* from;
    std::size_t bytes;
};

class Memcpy final : public Prepared {
   public:
    explicit Memcpy(std::vector<Transfer> transfers) : transfers_(std::move(transfers)) {}
    void launch(Stream stream, std::size_t set) override {
        const Transfer& t = transfers_[set];
        const cudaError_t status = cudaMemcpyAsync(t.to, t.from, t.bytes, cudaMemcpyDeviceToDevice,
                                                   static_cast<cudaStream_t>(stream.handle));
        if (status != cudaSuccess) {
            throw device_error(fmt::format("cudaMemcpyAsync of {} bytes was refused: {}", t.bytes,
                                           cudaGetErrorString(status)));
        }
    }
    [[nodiscard]] std::string describe() const override { return R"({"call":"cudaMemcpyAsync"})"; }

   private:
    std::vector<Transfer> transfers_;
};

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
        std::vector<Transfer> transfers;
        for (const BufferSet& set : sets) {
            transfers.push_back({set[1].data(), set[0].data(), set[0].bytes()});
        }
        return std::make_unique<Memcpy>(std::move(transfers));
    }
};

}  // namespace

Providers cudart_providers() {
    Providers providers;
    providers.push_back(std::make_unique<CudartCopy>());
    return providers;
}

}  // namespace etalon
