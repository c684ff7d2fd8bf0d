// One implementation, compiled for several instruction sets; the widest that the CPU has is taken.
#pragma once

#include "kernels/host/host_kernels.h"

namespace etalon::kernels::host {

struct Implementation {
    const char* name;  // "avx512"
    const char* gemm_fp32_name;
    const char* gemm_bf16_name;
    void (*gemm)(const GemmArgs&);
    void (*softmax)(const SoftmaxArgs&);
    void (*rmsnorm)(const NormArgs&);
    void (*layernorm)(const NormArgs&);
    void (*attention)(const AttentionArgs&);
    bool (*available)();
};

// Widest first; the last one runs everywhere.
inline constexpr int implementation_count = 4;
[[nodiscard]] const Implementation& implementation(int index);
// The first that is available.
[[nodiscard]] const Implementation& best_implementation();

namespace avx512_bf16 {
[[nodiscard]] const Implementation& get();
}
namespace avx512 {
[[nodiscard]] const Implementation& get();
}
namespace avx2 {
[[nodiscard]] const Implementation& get();
}
namespace baseline {
[[nodiscard]] const Implementation& get();
}

}  // namespace etalon::kernels::host
