// A case whose tensors, handles, algorithm and graphs are made: ready to be launched, checked and
// timed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bench/op.h"
#include "harness/core/records.h"

namespace etalon {

class Inputs;

inline constexpr int warmup_launches = 3;  // before the first timed launch of a case

// Throws Unsupported, OutOfMemory or a device Error.
class PreparedCase {
   public:
    // `earlier`: as Provider::prepare_like; empty: none.
    PreparedCase(const Op& op, const Provider& provider, const Case& key, Device& device,
                 Inputs& inputs, std::string_view earlier = {});
    // Poisons, launches and compares every set; empty when all is well, else what is wrong.
    [[nodiscard]] std::string check();
    // spec.sets is set here. A range of the case's name on the profiler's timeline.
    [[nodiscard]] Block time(BlockSpec spec);
    // One launch under the conditions of a timed one, in a range of this name that holds nothing
    // else.
    void launch_in_range(const std::string& name);
    // Launches without a pause, for so long.
    void launch_for(double milliseconds);
    [[nodiscard]] std::string describe() const { return prepared_->describe(); }
    [[nodiscard]] std::size_t sets() const;  // of buffers, which rotate
    [[nodiscard]] const Case& key() const { return key_; }

   private:
    Case key_;
    Device& device_;
    Inputs& inputs_;
    Tolerance tolerance_;
    std::unique_ptr<Prepared> prepared_;
};

}  // namespace etalon
