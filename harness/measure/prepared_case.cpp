#include "harness/measure/prepared_case.h"

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

}  // namespace etalon
