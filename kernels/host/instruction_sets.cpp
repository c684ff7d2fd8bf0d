#include "kernels/host/instruction_sets.h"

namespace etalon::kernels::host {

const Implementation& implementation(int index) {
    switch (index) {
        case 0:
            return avx512_bf16::get();
        case 1:
            return avx512::get();
        case 2:
            return avx2::get();
        default:
            return baseline::get();
    }
}

const Implementation& best_implementation() {
    static const Implementation& best = []() -> const Implementation& {
        int index = 0;
        while (!implementation(index).available()) ++index;
        return implementation(index);
    }();
    return best;
}

void gemm(const GemmArgs& args) {
    best_implementation().gemm(args);
}
void softmax(const SoftmaxArgs& args) {
    best_implementation().softmax(args);
}
void rmsnorm(const NormArgs& args) {
    best_implementation().rmsnorm(args);
}
void layernorm(const NormArgs& args) {
    best_implementation().layernorm(args);
}
void attention(const AttentionArgs& args) {
    best_implementation().attention(args);
}
const char* gemm_kernel_name(Type type) {
    const Implementation& best = best_implementation();
    return type == Type::fp32 ? best.gemm_fp32_name : best.gemm_bf16_name;
}
const char* instruction_set() {
    return best_implementation().name;
}

}  // namespace etalon::kernels::host
