// NVML, opened at run time: power, temperature, clocks, event reasons, who else is on the card.
//
// Everything is optional: where the library or a reading is missing, the answer is empty and
// missing() says why.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace etalon::cuda {

class Nvml {
   public:
    Nvml();
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    // Empty when the library is there and initialised.
    [[nodiscard]] const std::string& missing() const { return missing_; }
    [[nodiscard]] std::optional<std::string> driver_version() const;

    // What one card says of itself. The card is found by its PCI address, so that
    // CUDA_VISIBLE_DEVICES does not mislead us.
    struct Card {
        std::optional<double> power_w, power_limit_w, default_power_limit_w, temperature_c;
        std::optional<double> sm_clock_mhz, memory_clock_mhz, max_sm_clock_mhz;
        std::optional<std::uint64_t> event_reasons;
        std::optional<std::int64_t> processes;   // compute processes other than this one
        std::optional<std::int64_t> ecc_errors;  // uncorrected, since the driver was loaded
        std::optional<bool> ecc, mig, persistence;
        std::optional<std::string> vbios;
    };
    // GPU-Util, 0 to 1.
    [[nodiscard]] std::optional<double> utilisation(const std::string& pci_bus_id) const;
    [[nodiscard]] Card read(const std::string& pci_bus_id) const;

   private:
    struct Functions;
    std::unique_ptr<Functions> functions_;
    std::string missing_;
};

// "power cap, thermal slowdown" for NVML's mask of clocks event reasons.
[[nodiscard]] std::string event_reason_names(std::uint64_t mask);

}  // namespace etalon::cuda
