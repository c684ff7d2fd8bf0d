// copy by the C library: memcpy.

#include <cstring>

#include "bench/per_set.h"
#include "bench/providers.h"

namespace etalon {
namespace {

class LibcCopy final : public Provider {
   public:
    [[nodiscard]] std::string_view name() const override { return "libc"; }
    [[nodiscard]] std::string_view op() const override { return "copy"; }
    [[nodiscard]] DeviceKind device() const override { return DeviceKind::host; }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case&, Device&, std::span<const BufferSet> sets) const override {
        return per_set(
            transfers(sets), [](const Transfer& t, Stream) { std::memcpy(t.to, t.from, t.bytes); },
            R"({"call":"memcpy"})");
    }
};

}  // namespace

Providers libc_providers() {
    Providers providers;
    providers.push_back(std::make_unique<LibcCopy>());
    return providers;
}

}  // namespace etalon
