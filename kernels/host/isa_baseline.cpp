// Compiled with the flags of its instruction set (CMakeLists.txt).

#include "kernels/host/attention_impl.h"
#include "kernels/host/gemm_impl.h"
#include "kernels/host/instruction_sets.h"
#include "kernels/host/row_impl.h"

namespace etalon::kernels::host::baseline {
namespace {

bool available() {
    return true;
}

}  // namespace

const Implementation& get() {
    static constexpr Implementation all = {"scalar",      "scalar_4x8",  "scalar_widened_4x8",
                                           gemm_any,      softmax_any,   rmsnorm_any,
                                           layernorm_any, attention_any, available};
    return all;
}

}  // namespace etalon::kernels::host::baseline
