// For tests: a device whose launches take as long as they say.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "harness/device/device.h"

namespace etalon {

class FakeDevice final : public Device {
   public:
    FakeDevice() {
        info_.kind = DeviceKind::cuda;
        info_.id = "cuda:0";
        info_.compute_capability = 90;
    }
    DeviceInfo info_;
    bool usable_ = true;
    int launches = 0;
    // What a launch of this time is seen to take. Set, it makes a device that can be heated.
    std::function<Sample(double time_ns, bool heated)> timed_as;
    int heats = 0;

    // A launch that takes this long.
    [[nodiscard]] Launch taking(double time_ns) {
        return [this, time_ns](Stream, std::size_t) {
            ++launches;
            elapsed_ns_ = time_ns;
        };
    }
    // A launch that is refused, or that takes the device with it.
    [[nodiscard]] Launch refused(const std::string& why, bool fatal = false) {
        return [this, why, fatal](Stream, std::size_t) {
            ++launches;
            if (fatal) usable_ = false;
            throw device_error(why);
        };
    }

    [[nodiscard]] Block time_block(const Launch& launch, const BlockSpec& spec) override {
        for (int i = 0; i < spec.warmups; ++i) launch({}, 0);
        Block block;
        for (int i = 0; i < spec.samples; ++i) {
            launch({}, static_cast<std::size_t>(i) % spec.sets);
            block.samples.push_back({.duration_ns = elapsed_ns_, .clock_mhz = 1000});
            if (timed_as) block.samples.back() = timed_as(elapsed_ns_, spec.heated);
        }
        return block;
    }
    [[nodiscard]] Launch arithmetic(std::int64_t units) override {
        return taking(static_cast<double>(units));
    }
    [[nodiscard]] bool can_heat() const override { return timed_as != nullptr; }
    void heat(double) override { ++heats; }
    [[nodiscard]] const DeviceInfo& info() const override { return info_; }
    [[nodiscard]] bool usable() const override { return usable_; }
    [[nodiscard]] Environment environment() override { return {}; }
    [[nodiscard]] Buffer allocate(std::size_t) override { throw OutOfMemory("no memory here"); }
    void release(void*) noexcept override {}
    [[nodiscard]] std::size_t free_bytes() override { return 0; }
    void fill(const Buffer&, const Layout&, const Fill&, std::uint64_t) override {}
    void poison(const Buffer&) override {}
    [[nodiscard]] Comparison compare(const Buffer&, const Layout&, const Buffer&) override {
        return {};
    }
    void upload(const Buffer&, std::span<const std::byte>) override {}
    void download(std::span<std::byte>, const Buffer&) override {}
    [[nodiscard]] Stream stream() override { return {}; }
    void synchronize() override {}
    [[nodiscard]] std::string timer() const override { return "fake"; }
    [[nodiscard]] TimerFloor timer_floor() override { return {}; }
    [[nodiscard]] Conditions conditions() override { return {}; }
    void range_push(const std::string&) override {}
    void range_pop() override {}

   private:
    double elapsed_ns_ = 0;
};

// Sets an environment variable while it lives.
class ScopedVariable {
   public:
    ScopedVariable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value, 1);
    }
    ~ScopedVariable() {
        if (old_) {
            setenv(name_, old_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

   private:
    const char* name_;
    std::optional<std::string> old_;
};

}  // namespace etalon
