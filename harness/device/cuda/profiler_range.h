// Named ranges in NVTX domain "etalon", so that a case can be found on the profiler's timeline.
#pragma once

#include <string>

namespace etalon::cuda {

void range_push(const std::string& name);
void range_pop();

}  // namespace etalon::cuda
