#include "harness/device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "harness/core/text.h"
#include "harness/device/cuda/cuda_check.h"
#include "harness/device/cuda/element_type.h"
#include "harness/device/cuda/nvml.h"
#include "harness/device/cuda/profiler_range.h"
#include "harness/device/cuda/raii.h"
#include "harness/device/cuda/timing.h"
#include "harness/device/host/machine.h"
#include "kernels/util/device_util.h"
#include "kernels/util/probe.h"

namespace etalon::cuda {
namespace {

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string on_off(const std::optional<bool>& value) {
    return !value ? "" : *value ? "on" : "off";
}

// Why no GPU can be used at all, with the mend; empty if `count` is good.
std::string no_gpu_reason(int& count) {
    count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (status == cudaSuccess && count > 0) return "";
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) {
        return "no NVIDIA driver is loaded; install one (580 or newer), or measure the CPU with "
               "--device host";
    }
    if (driver < runtime / 1000 * 1000) {
        return fmt::format(
            "the NVIDIA driver supports CUDA {} and this program needs {}; update "
            "the driver to 580 or newer, or measure the CPU with --device host",
            version_text(driver), version_text(runtime));
    }
    if (status == cudaSuccess || status == cudaErrorNoDevice) {
        return "the driver sees no GPU; check CUDA_VISIBLE_DEVICES and nvidia-smi, or measure the "
               "CPU with --device host";
    }
    return fmt::format(
        "the GPU cannot be used: {}; check nvidia-smi, or measure the CPU with "
        "--device host",
        cudaGetErrorString(status));
}

std::string pci_address(int index) {
    std::array<char, 32> text{};
    if (cudaDeviceGetPCIBusId(text.data(), text.size(), index) != cudaSuccess) return "";
    return text.data();
}

class CudaDevice final : public Device {
   public:
    CudaDevice(int index, Timer timer) : pci_(pci_address(index)) {
        const std::int64_t before = nvml_.read(pci_).processes.value_or(0);
        check(cudaSetDevice(index), fmt::format("opening cuda:{}", index));
        stream_ = make_stream();
        // Inside a container NVML may list this process under a number that is not its own.
        own_entries_ = std::max<std::int64_t>(0, nvml_.read(pci_).processes.value_or(0) - before);

        cudaDeviceProp properties{};
        check(cudaGetDeviceProperties(&properties, index), "reading the device's properties");
        info_.kind = DeviceKind::cuda;
        info_.id = fmt::format("cuda:{}", index);
        info_.name = properties.name;
        info_.compute_capability = properties.major * 10 + properties.minor;
        info_.sm_count = properties.multiProcessorCount;
        info_.memory_bytes = properties.totalGlobalMem;
        info_.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
        info_.bf16 = properties.major >= 8;
        int clock_khz = 0;
        cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, index);
        info_.max_clock_mhz = nvml_.read(pci_).max_sm_clock_mhz.value_or(clock_khz / 1000.0);
        const std::size_t flush_bytes = std::max(2 * info_.l2_bytes, std::size_t{8} << 20);
        timing_.emplace(*this, stream_.get(), info_.sm_count, flush_bytes, timer);
        compare_result_ = allocate(sizeof(kernels::CompareResult));
    }

    const DeviceInfo& info() const override { return info_; }

    Environment environment() override {
        const Nvml::Card card = nvml_.read(pci_);
        const host::Machine machine = host::read_machine();
        int driver = 0, runtime = 0;
        cudaDriverGetVersion(&driver);
        cudaRuntimeGetVersion(&runtime);
        Environment env;
        env.device_kind = "cuda";
        env.gpu = info_.name;
        env.sm_count = info_.sm_count;
        env.memory_bytes = static_cast<std::int64_t>(info_.memory_bytes);
        env.vbios = card.vbios.value_or("");
        env.driver = nvml_.driver_version().value_or("CUDA " + version_text(driver));
        env.cuda_runtime = version_text(runtime);
        env.power_limit_w = card.power_limit_w.value_or(0);
        env.ecc = on_off(card.ecc);
        env.mig = on_off(card.mig);
        env.host_cpu = machine.cpu;
        env.os = machine.os;
        // Between what a card at rest runs memory-bound kernels at (an H200: 1960 to 1980 of 1980
        // MHz) and what its power cap leaves large matrix products (1320 to 1760), so that no time
        // is taken far from where it was measured.
        env.reference_clock_mhz = std::round(0.9 * info_.max_clock_mhz);
        env.extra["compute_capability"] =
            fmt::format("{}.{}", info_.compute_capability / 10, info_.compute_capability % 10);
        env.extra["persistence"] = on_off(card.persistence);
        if (!timing_->no_cupti().empty()) env.extra["no_cupti"] = timing_->no_cupti();
        return env;
    }

    Buffer allocate(std::size_t bytes) override {
        void* data = nullptr;
        check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)),
              fmt::format("allocating {} of {} free", human_bytes(static_cast<double>(bytes)),
                          human_bytes(static_cast<double>(free_bytes()))));
        return {*this, data, bytes};
    }
    void release(void* data) noexcept override { cudaFree(data); }
    std::size_t free_bytes() override {
        std::size_t free = 0, total = 0;
        if (cudaMemGetInfo(&free, &total) != cudaSuccess) cudaGetLastError();
        return free;
    }

    void fill(const Buffer& buffer, const Layout& layout, const Fill& fill,
              std::uint64_t seed) override {
        const auto elements = static_cast<std::size_t>(layout.rows * layout.ld);
        const kernels::ElementType type = element_type(layout.dtype);
        cudaError_t status = cudaSuccess;
        switch (fill.kind) {
            case Fill::Kind::normal:
                status = kernels::fill_normal(type, buffer.data(), elements, fill.a, fill.b, seed,
                                              stream_.get());
                break;
            case Fill::Kind::uniform:
                status = kernels::fill_uniform(type, buffer.data(), elements, fill.a, fill.b, seed,
                                               stream_.get());
                break;
            case Fill::Kind::constant:
                status =
                    kernels::fill_constant(type, buffer.data(), elements, fill.a, stream_.get());
                break;
        }
        check(status, "filling a tensor");
    }
    void poison(const Buffer& buffer) override {
        check(cudaMemsetAsync(buffer.data(), 0xFF, buffer.bytes(), stream_.get()),
              "poisoning an output");
    }
    Comparison compare(const Buffer& out, const Layout& layout, const Buffer& reference) override {
        check(kernels::compare(element_type(layout.dtype), out.data(), layout.rows, layout.cols,
                               layout.ld, reference.as<double>(),
                               compare_result_.as<kernels::CompareResult>(), stream_.get()),
              "comparing an output");
        kernels::CompareResult result;
        download(std::as_writable_bytes(std::span(&result, 1)), compare_result_);
        const double count = static_cast<double>(layout.rows) * static_cast<double>(layout.cols);
        return {.rel_error = relative_error(result.sum_sq_diff, result.sum_sq_ref),
                .max_error = relative_error(result.max_abs_diff * result.max_abs_diff,
                                            result.sum_sq_ref / count),
                .non_finite = result.non_finite,
                .padding_written = result.padding_written};
    }
    void upload(const Buffer& to, std::span<const std::byte> from) override {
        check(cudaMemcpyAsync(to.data(), from.data(), std::min(from.size(), to.bytes()),
                              cudaMemcpyHostToDevice, stream_.get()),
              "copying to the device");
        synchronize();
    }
    void download(std::span<std::byte> to, const Buffer& from) override {
        check(cudaMemcpyAsync(to.data(), from.data(), std::min(to.size(), from.bytes()),
                              cudaMemcpyDeviceToHost, stream_.get()),
              "copying from the device");
        synchronize();
    }

    Stream stream() override { return {stream_.get()}; }
    void synchronize() override {
        const cudaError_t status = cudaStreamSynchronize(stream_.get());
        if (is_fatal(status)) usable_ = false;
        check(status, "waiting for the device");
    }
    bool usable() const override { return usable_; }

    Launch arithmetic(std::int64_t units) override {
        return [units](Stream stream, std::size_t) {
            check(kernels::arithmetic(units, static_cast<cudaStream_t>(stream.handle)),
                  "the arithmetic kernel");
        };
    }
    Block time_block(const Launch& launch, const BlockSpec& spec) override {
        Block block;
        block.samples = timing_->run(launch, spec);
        block.conditions = conditions();
        return block;
    }
    bool can_heat() const override { return true; }
    void heat(double milliseconds) override { timing_->heat(milliseconds); }
    std::string timer() const override { return timing_->name(); }
    [[nodiscard]] double busy_ns() override { return usable_ ? timing_->busy_ns() : 0; }
    TimerFloor timer_floor() override { return timing_->floor(); }

    std::optional<double> reported_utilisation() override { return nvml_.utilisation(pci_); }
    Conditions conditions() override {
        const Nvml::Card card = nvml_.read(pci_);
        Conditions now;
        now.power_w = card.power_w;
        now.temperature_c = card.temperature_c;
        now.reported_clock_mhz = card.sm_clock_mhz;
        now.memory_clock_mhz = card.memory_clock_mhz;
        now.event_reasons = card.event_reasons;
        if (card.processes) {
            now.other_processes = std::max<std::int64_t>(0, *card.processes - own_entries_);
        }
        now.ecc_errors = card.ecc_errors;
        return now;
    }

    void range_push(const std::string& name) override { cuda::range_push(name); }
    void range_pop() override { cuda::range_pop(); }

   private:
    Nvml nvml_;
    std::string pci_;
    DeviceInfo info_;
    UniqueStream stream_;
    std::optional<Timing> timing_;
    Buffer compare_result_;
    std::int64_t own_entries_ = 0;
    bool usable_ = true;
};

}  // namespace

std::vector<DeviceListing> list_gpus() {
    int count = 0;
    const std::string reason = no_gpu_reason(count);
    if (!reason.empty()) return {{"cuda:0", "", false, reason}};
    std::vector<DeviceListing> listings;
    for (int index = 0; index < count; ++index) {
        cudaDeviceProp properties{};
        DeviceListing listing{fmt::format("cuda:{}", index), "", false, ""};
        const cudaError_t status = cudaGetDeviceProperties(&properties, index);
        listing.name = status == cudaSuccess ? properties.name : "";
        listing.usable = status == cudaSuccess;
        listing.reason = status == cudaSuccess ? "" : cudaGetErrorString(status);
        listings.push_back(listing);
    }
    return listings;
}

std::unique_ptr<Device> open_gpu(int index, Timer timer) {
    int count = 0;
    const std::string reason = no_gpu_reason(count);
    if (!reason.empty()) throw device_error(reason);
    if (index >= count) {
        throw device_error(fmt::format("there is no cuda:{}; this machine has cuda:0{}", index,
                                       count > 1 ? fmt::format(" to cuda:{}", count - 1) : ""));
    }
    // A build carries code for the architectures it was made for, and no other runs.
    check(cudaSetDevice(index), fmt::format("opening cuda:{}", index));
    if (kernels::spin(1, nullptr) == cudaErrorNoKernelImageForDevice) {
        cudaGetLastError();
        cudaDeviceProp properties{};
        cudaGetDeviceProperties(&properties, index);
        throw device_error(
            fmt::format("this build has no code for {} (sm_{}{}); build with "
                        "-DCMAKE_CUDA_ARCHITECTURES={}{}",
                        properties.name, properties.major, properties.minor, properties.major,
                        properties.minor));
    }
    return std::make_unique<CudaDevice>(index, timer);
}

}  // namespace etalon::cuda
