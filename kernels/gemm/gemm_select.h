// Which kernel computes a product, and how it is laid over the GPU: by shape and alignment alone,
// so that it can be told, and tested, without one.
#pragma once

#include <vector>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_plan.h"

namespace etalon::kernels {

[[nodiscard]] GemmChoice select_gemm(const GemmArgs& args, int compute_capability,
                                     int multiprocessors);
// Every choice that computes the product, the selected one among them: for tests and for tuning.
[[nodiscard]] std::vector<GemmChoice> gemm_choices(const GemmArgs& args, int compute_capability);

}  // namespace etalon::kernels
