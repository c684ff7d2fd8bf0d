// Baseline time / our time of every case of a run that has a measured baseline.
#pragma once

#include <string>

#include "bench/op.h"
#include "harness/store/store.h"

namespace etalon {

// Of normalised samples, with a bootstrap interval. Pairs that are stored already are left alone,
// so a resumed run can call it again.
void add_ratios(const Registry& registry, DeviceKind kind, Store& store, const std::string& run_id);

}  // namespace etalon
