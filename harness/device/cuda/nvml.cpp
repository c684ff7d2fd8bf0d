#include "harness/device/cuda/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvml.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace etalon::cuda {
namespace {

struct CloseLibrary {
    void operator()(void* library) const { dlclose(library); }
};

}  // namespace

// Addresses of the functions in use, by the names that the library exports.
struct Nvml::Functions {
    std::unique_ptr<void, CloseLibrary> library;
    decltype(&nvmlInit_v2) init = nullptr;
    decltype(&nvmlShutdown) shutdown = nullptr;
    decltype(&nvmlErrorString) error_string = nullptr;
    decltype(&nvmlSystemGetDriverVersion) driver_version = nullptr;
    decltype(&nvmlDeviceGetHandleByPciBusId_v2) by_pci = nullptr;
    decltype(&nvmlDeviceGetPowerUsage) power = nullptr;
    decltype(&nvmlDeviceGetUtilizationRates) utilisation = nullptr;
    decltype(&nvmlDeviceGetEnforcedPowerLimit) power_limit = nullptr;
    decltype(&nvmlDeviceGetPowerManagementDefaultLimit) default_power_limit = nullptr;
    decltype(&nvmlDeviceGetTemperature) temperature = nullptr;
    decltype(&nvmlDeviceGetClockInfo) clock = nullptr;
    decltype(&nvmlDeviceGetMaxClockInfo) max_clock = nullptr;
    decltype(&nvmlDeviceGetCurrentClocksEventReasons) event_reasons = nullptr;
    decltype(&nvmlDeviceGetComputeRunningProcesses_v3) processes = nullptr;
    decltype(&nvmlDeviceGetTotalEccErrors) ecc_errors = nullptr;
    decltype(&nvmlDeviceGetEccMode) ecc_mode = nullptr;
    decltype(&nvmlDeviceGetMigMode) mig_mode = nullptr;
    decltype(&nvmlDeviceGetPersistenceMode) persistence = nullptr;
    decltype(&nvmlDeviceGetVbiosVersion) vbios = nullptr;

    template <typename F>
    void find(F& function, const char* name) const {
        function = reinterpret_cast<F>(dlsym(library.get(), name));
    }
};

Nvml::Nvml() : functions_(std::make_unique<Functions>()) {
    Functions& f = *functions_;
    f.library.reset(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
    if (!f.library) {
        missing_ = "libnvidia-ml.so.1 was not found; it comes with the NVIDIA driver";
        return;
    }
    f.find(f.init, "nvmlInit_v2");
    f.find(f.shutdown, "nvmlShutdown");
    f.find(f.error_string, "nvmlErrorString");
    f.find(f.driver_version, "nvmlSystemGetDriverVersion");
    f.find(f.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    f.find(f.power, "nvmlDeviceGetPowerUsage");
    f.find(f.utilisation, "nvmlDeviceGetUtilizationRates");
    f.find(f.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    f.find(f.default_power_limit, "nvmlDeviceGetPowerManagementDefaultLimit");
    f.find(f.temperature, "nvmlDeviceGetTemperature");
    f.find(f.clock, "nvmlDeviceGetClockInfo");
    f.find(f.max_clock, "nvmlDeviceGetMaxClockInfo");
    f.find(f.event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    if (f.event_reasons == nullptr) {  // its name before driver 535
        f.find(f.event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    f.find(f.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    f.find(f.ecc_errors, "nvmlDeviceGetTotalEccErrors");
    f.find(f.ecc_mode, "nvmlDeviceGetEccMode");
    f.find(f.mig_mode, "nvmlDeviceGetMigMode");
    f.find(f.persistence, "nvmlDeviceGetPersistenceMode");
    f.find(f.vbios, "nvmlDeviceGetVbiosVersion");
    if (f.init == nullptr || f.by_pci == nullptr) {
        missing_ = "libnvidia-ml.so.1 is older than this program; update the NVIDIA driver";
        return;
    }
    const nvmlReturn_t status = f.init();
    if (status != NVML_SUCCESS) {
        missing_ = fmt::format("NVML did not start: {}; check that the driver is loaded",
                               f.error_string != nullptr ? f.error_string(status) : "no reason");
    }
}

Nvml::~Nvml() {
    if (missing_.empty() && functions_->shutdown != nullptr) functions_->shutdown();
}

std::optional<std::string> Nvml::driver_version() const {
    if (!missing_.empty() || functions_->driver_version == nullptr) return std::nullopt;
    std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> text{};
    if (functions_->driver_version(text.data(), text.size()) != NVML_SUCCESS) return std::nullopt;
    return std::string(text.data());
}

std::optional<double> Nvml::utilisation(const std::string& pci_bus_id) const {
    if (!missing_.empty() || functions_->utilisation == nullptr) return std::nullopt;
    nvmlDevice_t device{};
    nvmlUtilization_t percent{};
    if (functions_->by_pci(pci_bus_id.c_str(), &device) != NVML_SUCCESS ||
        functions_->utilisation(device, &percent) != NVML_SUCCESS) {
        return std::nullopt;
    }
    return percent.gpu / 100.0;
}

Nvml::Card Nvml::read(const std::string& pci_bus_id) const {
    Card card;
    if (!missing_.empty()) return card;
    const Functions& f = *functions_;
    nvmlDevice_t device{};
    if (f.by_pci(pci_bus_id.c_str(), &device) != NVML_SUCCESS) return card;

    const auto number = [&](auto function, double scale, auto... arguments) {
        unsigned value = 0;
        return function != nullptr && function(device, arguments..., &value) == NVML_SUCCESS
                   ? std::optional<double>(value * scale)
                   : std::nullopt;
    };
    card.power_w = number(f.power, 1e-3);
    card.power_limit_w = number(f.power_limit, 1e-3);
    card.default_power_limit_w = number(f.default_power_limit, 1e-3);
    card.temperature_c = number(f.temperature, 1, NVML_TEMPERATURE_GPU);
    card.sm_clock_mhz = number(f.clock, 1, NVML_CLOCK_SM);
    card.memory_clock_mhz = number(f.clock, 1, NVML_CLOCK_MEM);
    card.max_sm_clock_mhz = number(f.max_clock, 1, NVML_CLOCK_SM);

    unsigned long long wide = 0;
    if (f.event_reasons != nullptr && f.event_reasons(device, &wide) == NVML_SUCCESS) {
        card.event_reasons = wide;
    }
    if (f.ecc_errors != nullptr && f.ecc_errors(device, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
                                                NVML_VOLATILE_ECC, &wide) == NVML_SUCCESS) {
        card.ecc_errors = static_cast<std::int64_t>(wide);
    }
    std::array<nvmlProcessInfo_t, 64> infos{};
    unsigned count = infos.size();
    if (f.processes != nullptr) {
        const nvmlReturn_t status = f.processes(device, &count, infos.data());
        if (status == NVML_SUCCESS) {
            std::int64_t others = 0;
            for (unsigned i = 0; i < count; ++i) {
                others += infos[i].pid != static_cast<unsigned>(getpid()) ? 1 : 0;
            }
            card.processes = others;
        } else if (status == NVML_ERROR_INSUFFICIENT_SIZE) {
            card.processes = count;
        }
    }
    nvmlEnableState_t current{}, pending{};
    if (f.ecc_mode != nullptr && f.ecc_mode(device, &current, &pending) == NVML_SUCCESS) {
        card.ecc = current == NVML_FEATURE_ENABLED;
    }
    unsigned mig = 0, mig_pending = 0;
    if (f.mig_mode != nullptr && f.mig_mode(device, &mig, &mig_pending) == NVML_SUCCESS) {
        card.mig = mig == NVML_DEVICE_MIG_ENABLE;
    }
    if (f.persistence != nullptr && f.persistence(device, &current) == NVML_SUCCESS) {
        card.persistence = current == NVML_FEATURE_ENABLED;
    }
    std::array<char, NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE> vbios{};
    if (f.vbios != nullptr && f.vbios(device, vbios.data(), vbios.size()) == NVML_SUCCESS) {
        card.vbios = std::string(vbios.data());
    }
    return card;
}

std::string event_reason_names(std::uint64_t mask) {
    static constexpr std::array<std::pair<std::uint64_t, const char*>, 9> names = {{
        {nvmlClocksEventReasonGpuIdle, "idle"},
        {nvmlClocksEventReasonApplicationsClocksSetting, "application clocks"},
        {nvmlClocksEventReasonSwPowerCap, "power cap"},
        {nvmlClocksThrottleReasonHwSlowdown, "hardware slowdown"},
        {nvmlClocksEventReasonSyncBoost, "sync boost"},
        {nvmlClocksEventReasonSwThermalSlowdown, "thermal slowdown"},
        {nvmlClocksThrottleReasonHwThermalSlowdown, "hardware thermal slowdown"},
        {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "power brake"},
        {nvmlClocksEventReasonDisplayClockSetting, "display clocks"},
    }};
    std::string text;
    for (const auto& [bit, name] : names) {
        if ((mask & bit) == 0) continue;
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text.empty() ? "none" : text;
}

}  // namespace etalon::cuda
