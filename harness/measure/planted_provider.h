// For tests: a host provider that does what another one does, and then what a test plants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/op.h"

namespace etalon {

// The kernel that a test plants. The op's problems are fp32 and without padding.
struct Plant {
    std::optional<std::string> unsupported;         // the reason, told before anything is prepared
    std::function<void(Device& device)> preparing;  // may throw
    // Called after each true launch of a case, the first being number 1. May throw.
    std::function<void(const BufferSet& buffers, int launch)> launched;
};

// The elements of an fp32 tensor.
[[nodiscard]] inline std::span<float> elements(const Buffer& buffer) {
    return {buffer.as<float>(), buffer.bytes() / sizeof(float)};
}

// The output of every op is its last tensor.
inline void scale_output(const BufferSet& buffers, double factor) {
    for (float& y : elements(buffers.back())) y = static_cast<float>(y * factor);
}

class PlantedProvider final : public Provider {
   public:
    // `truth` computes the right result and outlives this provider.
    PlantedProvider(std::string name, const Provider& truth, Plant plant)
        : name_(std::move(name)), truth_(truth), plant_(std::move(plant)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view op() const override { return truth_.op(); }
    [[nodiscard]] DeviceKind device() const override { return truth_.device(); }
    [[nodiscard]] std::optional<std::string> unsupported(const Case&, Device&) const override {
        return plant_.unsupported;
    }
    [[nodiscard]] std::unique_ptr<Prepared> prepare(
        const Case& key, Device& device, std::span<const BufferSet> sets) const override {
        if (plant_.preparing) plant_.preparing(device);
        return std::make_unique<Kernel>(truth_.prepare(key, device, sets), plant_, sets);
    }

   private:
    class Kernel final : public Prepared {
       public:
        Kernel(std::unique_ptr<Prepared> truth, const Plant& plant, std::span<const BufferSet> sets)
            : truth_(std::move(truth)), plant_(plant), sets_(sets) {}
        void launch(Stream stream, std::size_t set) override {
            truth_->launch(stream, set);
            ++launches_;
            if (plant_.launched) plant_.launched(sets_[set], launches_);
        }
        [[nodiscard]] std::string describe() const override { return truth_->describe(); }

       private:
        std::unique_ptr<Prepared> truth_;
        const Plant& plant_;
        std::span<const BufferSet> sets_;
        int launches_ = 0;
    };
    std::string name_;
    const Provider& truth_;
    Plant plant_;
};

// Adds a provider of `op` that begins as our own kernel on the host does.
inline void plant(Registry& registry, const std::string& op, const std::string& name, Plant how) {
    const Provider& truth = registry.provider(op, "etalon", DeviceKind::host);
    registry.add(std::make_unique<PlantedProvider>(name, truth, std::move(how)));
}

}  // namespace etalon
