#include "kernels/attention/attention_plan.h"
namespace etalon::kernels {
const AttentionKernel* sm90_prefill_kernel(const AttentionArgs&) {
    return nullptr;
}
}  // namespace etalon::kernels
