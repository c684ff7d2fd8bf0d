// Device: where cases run. One interface, two implementations: cuda/ and host/.
//
// This header includes no CUDA header, so everything above it builds on any machine. A Device is
// used from one thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/core/case.h"
#include "harness/core/error.h"
#include "harness/core/records.h"

namespace etalon {

// Native stream: cudaStream_t on a GPU, null on the host.
struct Stream {
    void* handle = nullptr;
};

class Device;

// Device memory, freed on destruction. Never outlives its Device.
class Buffer {
   public:
    Buffer() = default;
    Buffer(Device& owner, void* data, std::size_t bytes)
        : owner_(&owner), data_(data), bytes_(bytes) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    [[nodiscard]] void* data() const { return data_; }
    template <typename T>
    [[nodiscard]] T* as() const {
        return static_cast<T*>(data_);
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    explicit operator bool() const { return data_ != nullptr; }

   private:
    void swap(Buffer& other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }
    Device* owner_ = nullptr;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

// How a tensor is filled. normal: mean 0 and the given standard deviation, from the seed;
// integers are rounded and clamped. uniform: [lo, hi]. constant: lo everywhere.
struct Fill {
    enum class Kind { normal, uniform, constant } kind = Kind::normal;
    double a = 0;  // mean, lo
    double b = 1;  // standard deviation, hi
};

// A rows × cols tensor, row-major with leading dimension ld ≥ cols (elements).
struct Layout {
    DType dtype = DType::f32;
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    std::int64_t ld = 1;
    [[nodiscard]] std::size_t bytes() const {
        return static_cast<std::size_t>(rows * ld) * bytes_of(dtype);
    }
};

// What Device::compare found. The padding columns (cols..ld) must still hold the poison.
struct Comparison {
    double rel_error = 0;         // ‖out − ref‖ / ‖ref‖ (Frobenius, in double)
    double max_error = 0;         // max |out − ref| / rms(ref)
    std::int64_t non_finite = 0;  // elements that are NaN or Inf where the reference is finite
    std::int64_t padding_written = 0;
};

// sqrt(diff_sq / ref_sq); 0 where nothing differs, and infinite where only the reference is 0.
[[nodiscard]] inline double relative_error(double diff_sq, double ref_sq) {
    if (diff_sq == 0) return 0;
    return ref_sq == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(diff_sq / ref_sq);
}

struct DeviceInfo {
    DeviceKind kind = DeviceKind::host;
    std::string id;              // cuda:0, host
    std::string name;            // NVIDIA H200, AMD EPYC ...
    int compute_capability = 0;  // 90 for sm_90; 0 on the host
    int sm_count = 0;            // cores on the host
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;  // last-level cache
    double max_clock_mhz = 0;
    bool bf16 = false;  // the device multiplies bf16 in hardware
};

using Launch = std::function<void(Stream stream, std::size_t set)>;

struct BlockSpec {
    L2Mode l2 = L2Mode::cold;
    int warmups = 0;       // launches before the first sample, untimed
    int samples = 16;      // timed launches
    std::size_t sets = 1;  // rotated buffer sets
    bool heated = false;   // load before each sample, so that the clock stays where heat() put it
};

struct Block {
    std::vector<Sample> samples;
    Conditions conditions;
};

class Device {
   public:
    virtual ~Device() = default;
    [[nodiscard]] virtual const DeviceInfo& info() const = 0;
    // Everything but etalon_version and method, which the caller adds.
    [[nodiscard]] virtual Environment environment() = 0;

    // Throws OutOfMemory. At least 256-byte aligned.
    [[nodiscard]] virtual Buffer allocate(std::size_t bytes) = 0;
    virtual void release(void* data) noexcept = 0;  // Buffer's destructor calls it
    [[nodiscard]] virtual std::size_t free_bytes() = 0;

    // Fills all rows × ld elements, padding too.
    virtual void fill(const Buffer& buffer, const Layout& layout, const Fill& fill,
                      std::uint64_t seed) = 0;
    // Every byte 0xFF: NaN in each floating type, -1 in each integer type.
    virtual void poison(const Buffer& buffer) = 0;
    // `reference` is dense rows × cols in double, on this device.
    [[nodiscard]] virtual Comparison compare(const Buffer& out, const Layout& layout,
                                             const Buffer& reference) = 0;
    virtual void upload(const Buffer& to, std::span<const std::byte> from) = 0;
    virtual void download(std::span<std::byte> to, const Buffer& from) = 0;

    [[nodiscard]] virtual Stream stream() = 0;
    // Waits and throws a device Error if anything launched has failed. After a sticky error the
    // device is unusable; usable() says so.
    virtual void synchronize() = 0;
    [[nodiscard]] virtual bool usable() const = 0;

    // Can this device be brought to another clock by load?
    [[nodiscard]] virtual bool can_heat() const = 0;
    // Keeps it under full load for so long. Does nothing where can_heat() is false.
    virtual void heat(double milliseconds) = 0;

    // A launch of arithmetic alone, on all of the device, whose work is proportional to `units`; a
    // unit takes some nanoseconds. For looking at the measurement itself.
    [[nodiscard]] virtual Launch arithmetic(std::int64_t units) = 0;
    // Times `samples` launches one by one. Flush, probe and launch gap stay outside the window.
    [[nodiscard]] virtual Block time_block(const Launch& launch, const BlockSpec& spec) = 0;
    [[nodiscard]] virtual std::string timer() const = 0;  // "cupti", "events", "steady_clock"
    struct TimerFloor {
        double floor_ns = 0;    // median window around nothing; 0: the timer sees the work alone
        double quantum_ns = 0;  // smallest non-zero difference seen
    };
    [[nodiscard]] virtual TimerFloor timer_floor() = 0;
    [[nodiscard]] virtual Conditions conditions() = 0;
    // Time in which it was seen executing since it was opened, waits for the CPU left out; 0 where
    // the timer does not see it.
    [[nodiscard]] virtual double busy_ns() { return 0; }

    // What nvidia-smi shows as GPU-Util, 0 to 1: the share of the last second or so in which some
    // kernel ran. Empty where there is no such figure.
    [[nodiscard]] virtual std::optional<double> reported_utilisation() { return std::nullopt; }

    // Named range on the profiler's timeline (NVTX domain "etalon"); nothing on the host.
    virtual void range_push(const std::string& name) = 0;
    virtual void range_pop() = 0;
};

inline Buffer::~Buffer() {
    if (owner_ != nullptr && data_ != nullptr) owner_->release(data_);
}

// A device that could be opened, or why it cannot.
struct DeviceListing {
    std::string id;
    std::string name;
    bool usable = false;
    std::string reason;  // one line with the mend when not usable
};
[[nodiscard]] std::vector<DeviceListing> list_devices();

// What a device's name means without opening it: `cuda:N` is a GPU whether one is here or not,
// `auto` is what is here. Throws a usage Error for an unknown name.
struct DeviceName {
    DeviceKind kind = DeviceKind::host;
    int index = 0;  // of a GPU
};
[[nodiscard]] DeviceName parse_device(const std::string& name);

// By which clock a GPU's launches are timed. CUPTI's records hold the kernel's own begin and end;
// an event pair adds more than a microsecond and moves from process to process.
enum class Timer {
    automatic,  // CUPTI, or events where it cannot record
    cupti,
    events
};
// "auto", "cupti", "events"; throws a usage Error for another.
[[nodiscard]] Timer parse_timer(const std::string& name);

// `auto` (cuda:0 if it can be used, else host), `cuda:N`, `cuda`, `host`. Throws a usage Error for
// an unknown name and a device Error, in one line with the mend, where the device or the timer
// cannot be used. The host has one timer and takes no other.
[[nodiscard]] std::unique_ptr<Device> open_device(const std::string& name,
                                                  Timer timer = Timer::automatic);

// One line of doctor's table.
struct Finding {
    enum class Level { good, note, warning, bad } level = Level::good;
    std::string subject;  // "driver", "power limit"
    std::string value;    // what was read
    std::string effect;   // what it does to a measurement; empty if nothing
    std::string mend;     // what to do; empty if nothing
};
// Never throws: what cannot be read is a Finding.
[[nodiscard]] std::vector<Finding> examine_machine();

}  // namespace etalon
