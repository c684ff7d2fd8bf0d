// copy by the C library: memcpy.

#include <cstring>
#include <vector>

#include "bench/providers.h"

namespace etalon {
namespace {

class Memcpy final : public Prepared {
   public:
    explicit Memcpy(std::span<const BufferSet> sets) {
        for (const BufferSet& set : sets) {
            transfers_.push_back({set[1].data(), set[0].data(), set[0].bytes()});
        }
    }
    void launch(Stream, std::size_t set) override {
        const Transfer& t = transfers_[set];
        std::memcpy(t.to, t.from, t.bytes);
    }
    [[nodiscard]] std::string describe() const override { return R"({"call":"memcpy"})"; }

   private:
    struct Transfer {
        void* to;
        const void* from;
        std::size_t bytes;
    };
    std::vector<Transfer> transfers_;
};

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
        return std::make_unique<Memcpy>(sets);
    }
};

}  // namespace

Providers libc_providers() {
    Providers providers;
    providers.push_back(std::make_unique<LibcCopy>());
    return providers;
}

}  // namespace etalon
