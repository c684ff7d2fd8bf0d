// Compiled with the flags of its instruction set (CMakeLists.txt).

#include "kernels/host/attention_impl.h"
#include "kernels/host/gemm_impl.h"
#include "kernels/host/instruction_sets.h"
#include "kernels/host/row_impl.h"

namespace etalon::kernels::host::avx512 {
namespace {

bool available() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#else
    return false;
#endif
}

}  // namespace

const Implementation& get() {
    static constexpr Implementation all = {"avx512",      "avx512_12x32", "avx512_widened_12x32",
                                           gemm_any,      softmax_any,    rmsnorm_any,
                                           layernorm_any, attention_any,  available};
    return all;
}

}  // namespace etalon::kernels::host::avx512
