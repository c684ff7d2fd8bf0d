#include "harness/measure/prepared_case.h"

#include <chrono>

#include "harness/measure/inputs.h"

namespace etalon {
namespace {

// Named range on the profiler's timeline for as long as it lives.
class Range {
   public:
    Range(Device& device, const std::string& name) : device_(device) { device.range_push(name); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
    ~Range() { device_.range_pop(); }

   private:
    Device& device_;
};

}  // namespace

PreparedCase::PreparedCase(const Op& op, const Provider& provider, const Case& key, Device& device,
                           Inputs& inputs, std::string_view earlier)
    : key_(key),
      device_(device),
      inputs_(inputs),
      tolerance_(op.tolerance(key.problem)),
      prepared_(earlier.empty() ? provider.prepare(key, device, inputs.sets())
                                : provider.prepare_like(earlier, key, device, inputs.sets())) {}

std::size_t PreparedCase::sets() const {
    return inputs_.sets().size();
}

std::string PreparedCase::check() {
    const Range range(device_, key_.id());
    for (std::size_t set = 0; set < inputs_.sets().size(); ++set) {
        inputs_.poison_outputs(set);
        prepared_->launch(device_.stream(), set);
        device_.synchronize();
        const std::string wrong = inputs_.judge(set, tolerance_);
        if (!wrong.empty()) return wrong;
    }
    return "";
}

Block PreparedCase::time(BlockSpec spec) {
    const Range range(device_, key_.id());
    spec.sets = inputs_.sets().size();
    return device_.time_block(
        [this](Stream stream, std::size_t set) { prepared_->launch(stream, set); }, spec);
}

void PreparedCase::launch_in_range(const std::string& name) {
    // Before a hot launch the same one is made outside of the window.
    int others = key_.l2 == L2Mode::hot ? 1 : 0;
    const auto launch = [&](Stream stream, std::size_t set) {
        if (others-- > 0) return prepared_->launch(stream, set);
        const Range range(device_, name);
        prepared_->launch(stream, set);
    };
    (void)device_.time_block(launch, {.l2 = key_.l2, .samples = 1, .sets = inputs_.sets().size()});
}

void PreparedCase::launch_for(double milliseconds) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
    while (clock::now() < end) {
        for (std::size_t set = 0; set < inputs_.sets().size(); ++set) {
            prepared_->launch(device_.stream(), set);
        }
        device_.synchronize();
    }
}

}  // namespace etalon
