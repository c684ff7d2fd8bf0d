#include "harness/device/host/host_device.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "harness/core/text.h"
#include "harness/core/version.h"
#include "harness/device/host/convert.h"
#include "harness/device/host/host_clock.h"
#include "harness/device/host/machine.h"
#include "harness/stats/stats.h"

namespace etalon::host {
namespace {

using clock = std::chrono::steady_clock;

double elapsed_ns(clock::time_point from, clock::time_point to) {
    return std::chrono::duration<double, std::nano>(to - from).count();
}

bool multiplies_bf16() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

// Keeps the calling thread on the CPU it runs on, and puts its old set back.
class Pinned {
   public:
    Pinned() {
        CPU_ZERO(&before_);
        if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &one);
        pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() {
        if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
    }

   private:
    cpu_set_t before_{};
    bool pinned_ = false;
};

class HostDevice final : public Device {
   public:
    HostDevice() : machine_(read_machine()) {
        info_.kind = DeviceKind::host;
        info_.id = "host";
        info_.name = machine_.cpu;
        info_.sm_count = machine_.cores;
        info_.memory_bytes = machine_.memory_bytes;
        info_.l2_bytes = machine_.last_level_cache_bytes;
        // Any clock does as the reference so long as it is the same in every run; machines without
        // cpufreq (most virtual ones) get a round one.
        reference_clock_mhz_ = machine_.max_clock_mhz.value_or(3000);
        info_.max_clock_mhz = reference_clock_mhz_;
        info_.bf16 = multiplies_bf16();
        eviction_.resize(2 * std::max<std::size_t>(info_.l2_bytes, std::size_t{1} << 22));
    }

    const DeviceInfo& info() const override { return info_; }

    Environment environment() override {
        Environment env;
        env.device_kind = "host";
        env.gpu = machine_.cpu;
        env.sm_count = machine_.cores;
        env.memory_bytes = static_cast<std::int64_t>(machine_.memory_bytes);
        env.host_cpu = machine_.cpu;
        env.os = machine_.os;
        env.reference_clock_mhz = reference_clock_mhz_;
        env.extra["compiler"] = std::string(compiler());
        if (machine_.governor) env.extra["governor"] = *machine_.governor;
        return env;
    }

    Buffer allocate(std::size_t bytes) override {
        const std::size_t available = free_bytes();
        // Overcommit would hand out what cannot be touched, and the kernel would end the program.
        if (bytes > available) {
            throw OutOfMemory(
                fmt::format("{} do not fit: {} of memory are available; choose a "
                            "smaller problem",
                            human_bytes(static_cast<double>(bytes)),
                            human_bytes(static_cast<double>(available))));
        }
        const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 4095) / 4096 * 4096;
        void* data = std::aligned_alloc(4096, rounded);
        if (data == nullptr) {
            throw OutOfMemory(fmt::format("{} could not be allocated; choose a smaller problem",
                                          human_bytes(static_cast<double>(bytes))));
        }
        return {*this, data, bytes};
    }
    void release(void* data) noexcept override { std::free(data); }
    std::size_t free_bytes() override { return available_memory_bytes(); }

    void fill(const Buffer& buffer, const Layout& layout, const Fill& fill,
              std::uint64_t seed) override {
        host::fill(buffer.data(), layout, fill, seed);
    }
    void poison(const Buffer& buffer) override { std::memset(buffer.data(), 0xFF, buffer.bytes()); }
    Comparison compare(const Buffer& out, const Layout& layout, const Buffer& reference) override {
        return host::compare(out.data(), layout, reference.as<const double>());
    }
    void upload(const Buffer& to, std::span<const std::byte> from) override {
        std::memcpy(to.data(), from.data(), std::min(from.size(), to.bytes()));
    }
    void download(std::span<std::byte> to, const Buffer& from) override {
        std::memcpy(to.data(), from.data(), std::min(to.size(), from.bytes()));
    }

    Stream stream() override { return {}; }
    void synchronize() override {}
    bool usable() const override { return true; }

    // One core's load hardly moves the clock of a machine that others share.
    bool can_heat() const override { return false; }
    void heat(double) override {}

    Launch arithmetic(std::int64_t units) override {
        return [units](Stream, std::size_t) { add_chain(units); };
    }
    Block time_block(const Launch& launch, const BlockSpec& spec) override {
        const Pinned pinned;
        Block block;
        block.samples.reserve(static_cast<std::size_t>(spec.samples));
        for (int i = 0; i < spec.warmups; ++i) launch({}, i % spec.sets);
        for (int i = 0; i < spec.samples; ++i) {
            // Hot means that this very set was just used.
            const std::size_t set =
                spec.l2 == L2Mode::hot ? 0 : static_cast<std::size_t>(i) % spec.sets;
            if (spec.l2 == L2Mode::cold) {
                evict();
            } else {
                launch({}, set);
            }
            const double before_mhz = effective_clock_mhz();
            const auto start = clock::now();
            launch({}, set);
            const auto stop = clock::now();
            const double after_mhz = effective_clock_mhz();
            block.samples.push_back({elapsed_ns(start, stop), (before_mhz + after_mhz) / 2});
        }
        block.conditions = conditions();
        return block;
    }

    std::string timer() const override { return "steady_clock"; }

    TimerFloor timer_floor() override {
        std::vector<double> windows;
        TimerFloor floor;
        for (int i = 0; i < 2001; ++i) {
            const auto start = clock::now();
            const auto stop = clock::now();
            const double window = elapsed_ns(start, stop);
            windows.push_back(window);
            if (window > 0 && (floor.quantum_ns == 0 || window < floor.quantum_ns)) {
                floor.quantum_ns = window;
            }
        }
        floor.floor_ns = stats::median(windows);
        return floor;
    }

    Conditions conditions() override { return {}; }
    void range_push(const std::string&) override {}
    void range_pop() override {}

   private:
    // Writes, then reads back, twice the last-level cache, so that no dirty line is left for the
    // timed work to evict.
    void evict() {
        constexpr std::size_t line = 64;
        for (std::size_t i = 0; i < eviction_.size(); i += line) ++eviction_[i];
        unsigned sum = 0;
        for (std::size_t i = 0; i < eviction_.size(); i += line) sum += eviction_[i];
        asm volatile("" : : "r"(sum) : "memory");
    }

    Machine machine_;
    DeviceInfo info_;
    double reference_clock_mhz_ = 0;
    std::vector<unsigned char> eviction_;
};

}  // namespace

std::unique_ptr<Device> make_host_device() {
    return std::make_unique<HostDevice>();
}

}  // namespace etalon::host
