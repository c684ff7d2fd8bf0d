// A build that is carried to other machines has no oneDNN: its providers say so.

#include "baselines/onednn/onednn_version.h"
#include "bench/providers.h"

namespace etalon {
namespace {

constexpr const char* reason =
    "this is the portable build, which carries no oneDNN; measure the CPU with the release or "
    "host-only build";

class Missing final : public Provider {
   public:
    explicit Missing(std::string_view op) : op_(op) {}
    [[nodiscard]] std::string_view name() const override { return "onednn"; }
    [[nodiscard]] std::string_view op() const override { return op_; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return reason;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(const Case&, Device&,
                                                    std::span<const BufferSet>) const override {
        throw Unsupported(reason);
    }

   private:
    std::string_view op_;
};

}  // namespace

std::string onednn_version() {
    return "";
}

Providers onednn_providers() {
    Providers providers;
    for (const char* op : {"gemm", "softmax", "rmsnorm", "layernorm", "copy"}) {
        providers.push_back(std::make_unique<Missing>(op));
    }
    return providers;
}

}  // namespace etalon
