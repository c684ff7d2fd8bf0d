// Compiled with the flags of its instruction set (CMakeLists.txt).

#include "kernels/host/attention_impl.h"
#include "kernels/host/gemm_impl.h"
#include "kernels/host/instruction_sets.h"
#include "kernels/host/row_impl.h"

namespace etalon::kernels::host::avx2 {
namespace {

bool available() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
    return false;
#endif
}

}  // namespace

const Implementation& get() {
    static constexpr Implementation all = {"avx2",        "avx2_6x16",   "avx2_widened_6x16",
                                           gemm_any,      softmax_any,   rmsnorm_any,
                                           layernorm_any, attention_any, available};
    return all;
}

}  // namespace etalon::kernels::host::avx2
