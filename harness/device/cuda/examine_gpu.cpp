#include "harness/device/cuda/examine_gpu.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>

#include "harness/core/text.h"
#include "harness/device/cuda/activity.h"
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/nvml.h"

namespace etalon::cuda {
namespace {

using Level = Finding::Level;

void examine_clocks(const std::string& id, const Nvml::Card& card, std::vector<Finding>& findings) {
    if (card.sm_clock_mhz && card.max_sm_clock_mhz) {
        findings.push_back(
            {Level::note, id + " clocks",
             fmt::format("SM {:.0f} of at most {:.0f} MHz, memory {:.0f} MHz", *card.sm_clock_mhz,
                         *card.max_sm_clock_mhz, card.memory_clock_mhz.value_or(0)),
             "a compute-bound kernel's raw time moves by up to a quarter; etalon compares times "
             "normalised by the clock it measures",
             ""});
    }
    if (card.event_reasons) {
        // Idle (1), application clocks (2) and the display's (256) slow nothing down by surprise.
        const bool slowed = (*card.event_reasons & ~std::uint64_t{0x103}) != 0;
        findings.push_back({slowed ? Level::warning : Level::good, id + " clock events",
                            event_reason_names(*card.event_reasons),
                            slowed ? "the card is holding its clock back now" : "",
                            slowed ? "let it cool, or look at its power supply and fans" : ""});
    }
    if (card.power_limit_w) {
        const bool lowered =
            card.default_power_limit_w && *card.power_limit_w < *card.default_power_limit_w - 1;
        findings.push_back(
            {lowered ? Level::warning : Level::good, id + " power limit",
             fmt::format("{:.0f} W (default {:.0f} W), drawing {:.0f} W", *card.power_limit_w,
                         card.default_power_limit_w.value_or(*card.power_limit_w),
                         card.power_w.value_or(0)),
             lowered ? "big matrix products run at a lower clock than on a card at its default"
                     : "",
             lowered ? "nvidia-smi -pl <default>, or keep it: it is part of the environment" : ""});
    }
}

void examine_modes(const std::string& id, const Nvml::Card& card, std::vector<Finding>& findings) {
    if (card.ecc) {
        findings.push_back(
            {*card.ecc ? Level::good : Level::note, id + " ECC", *card.ecc ? "on" : "off",
             *card.ecc ? "" : "bandwidth is not comparable with cards that have it on", ""});
    }
    if (card.ecc_errors.value_or(0) > 0) {
        findings.push_back({Level::bad, id + " ECC errors",
                            fmt::format("{} uncorrected", *card.ecc_errors),
                            "results cannot be trusted", "reset or replace the card"});
    }
    if (card.mig) {
        findings.push_back(
            {*card.mig ? Level::warning : Level::good, id + " MIG", *card.mig ? "on" : "off",
             *card.mig ? "a slice is measured, and its neighbours share the memory" : "",
             *card.mig ? "compare with runs of the same slice alone" : ""});
    }
    if (card.persistence) {
        findings.push_back({*card.persistence ? Level::good : Level::note, id + " persistence",
                            *card.persistence ? "on" : "off",
                            *card.persistence ? "" : "the first run after a pause starts slowly",
                            *card.persistence ? "" : "nvidia-smi -pm 1"});
    }
    const std::int64_t others = card.processes.value_or(0);
    findings.push_back({others > 0 ? Level::warning : Level::good, id + " other processes",
                        card.processes ? fmt::format("{}", others) : "not readable",
                        others > 0 ? "they take turns with the measured kernels" : "",
                        others > 0 ? "stop them (nvidia-smi names them)" : ""});
}

void examine_timer(std::vector<Finding>& findings) {
    const ActivityRecorder recorder;
    if (recorder.missing().empty()) {
        findings.push_back({Level::good, "timer", "CUPTI records", "", ""});
    } else {
        findings.push_back({Level::warning, "timer", recorder.missing(),
                            "CUDA events time the launches: they add over a microsecond, and small "
                            "kernels move by 2 % from process to process",
                            "install CUPTI of CUDA 13, and end what else profiles this card"});
    }
}

}  // namespace

void examine_gpus(std::vector<Finding>& findings) {
    const Nvml nvml;
    if (!nvml.missing().empty()) {
        findings.push_back({Level::note, "NVML", nvml.missing(),
                            "power, temperature and clock events are not recorded", ""});
    } else if (const auto driver = nvml.driver_version()) {
        findings.push_back({Level::good, "driver", *driver, "", ""});
    }
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    findings.push_back({Level::good, "CUDA runtime",
                        fmt::format("{}.{}", runtime / 1000, runtime % 1000 / 10), "", ""});
    const std::vector<DeviceListing> listings = list_gpus();
    if (listings.front().usable) examine_timer(findings);
    for (const DeviceListing& listing : listings) {
        if (!listing.usable) {
            findings.push_back(
                {Level::note, listing.id, listing.reason, "the CPU is measured instead", ""});
            continue;
        }
        findings.push_back({Level::good, listing.id, listing.name, "", ""});
        std::array<char, 32> pci{};
        cudaDeviceGetPCIBusId(pci.data(), pci.size(), std::stoi(listing.id.substr(5)));
        const Nvml::Card card = nvml.read(pci.data());
        examine_clocks(listing.id, card, findings);
        examine_modes(listing.id, card, findings);
    }
}

}  // namespace etalon::cuda
