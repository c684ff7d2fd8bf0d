// wgmma's instructions as functions: D (+)= A · Bᵀ for 64 rows of A and n rows of B, both in shared
// memory, K-major under the 128-byte swizzle, 32 bytes of K each.
//
// `keep` 0 overwrites D. D of a thread, by index j·4 + h·2 + c: row warp·16 + lane/4 + 8·h, column
// 8·j + 2·(lane%4) + c (PTX ISA, "wgmma.mma_async": register fragments). An instruction takes its
// registers by name; macros spell them out, since a template can make neither an instruction's text
// nor its list of operands.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

template <GemmType type, int n>
struct Wgmma;

// Registers of D in the instruction's text, by their number; the operands after them are the two
// descriptors and `keep`.
#define ETALON_WGMMA_REGISTERS_64                                                      \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ETALON_WGMMA_REGISTERS_128                                                         \
    ETALON_WGMMA_REGISTERS_64                                                              \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "   \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "     \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "     \
    "%110, %111, "                                                                         \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
    "%126, %127"
#define ETALON_WGMMA_INPUTS_64 "%64, %65"
#define ETALON_WGMMA_INPUTS_128 "%128, %129"
#define ETALON_WGMMA_KEEP_64 "%66"
#define ETALON_WGMMA_KEEP_128 "%130"

// The same registers as operands under a constraint.
#define ETALON_WGMMA_EIGHT(constraint, i)                                                     \
    constraint(d[i]), constraint(d[(i) + 1]), constraint(d[(i) + 2]), constraint(d[(i) + 3]), \
        constraint(d[(i) + 4]), constraint(d[(i) + 5]), constraint(d[(i) + 6]),               \
        constraint(d[(i) + 7])
#define ETALON_WGMMA_HALF(constraint, i)                                                    \
    ETALON_WGMMA_EIGHT(constraint, i), ETALON_WGMMA_EIGHT(constraint, (i) + 8),             \
        ETALON_WGMMA_EIGHT(constraint, (i) + 16), ETALON_WGMMA_EIGHT(constraint, (i) + 24), \
        ETALON_WGMMA_EIGHT(constraint, (i) + 32), ETALON_WGMMA_EIGHT(constraint, (i) + 40), \
        ETALON_WGMMA_EIGHT(constraint, (i) + 48), ETALON_WGMMA_EIGHT(constraint, (i) + 56)
#define ETALON_WGMMA_OPERANDS_64(constraint) ETALON_WGMMA_HALF(constraint, 0)
#define ETALON_WGMMA_OPERANDS_128(constraint) \
    ETALON_WGMMA_HALF(constraint, 0), ETALON_WGMMA_HALF(constraint, 64)

// `count`: registers of D, n / 2; `modifiers`: what stands after the predicate.
#define ETALON_WGMMA(type, n, count, accumulator, constraint, instruction, modifiers)              \
    template <>                                                                                    \
    struct Wgmma<GemmType::type, n> {                                                              \
        __device__ static void multiply(accumulator (&d)[count], std::uint64_t a, std::uint64_t b, \
                                        int keep) {                                                \
            asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " ETALON_WGMMA_KEEP_##count             \
                         ", 0;\n"                                                                  \
                         "wgmma.mma_async.sync.aligned." instruction                               \
                         " {" ETALON_WGMMA_REGISTERS_##count "}, " ETALON_WGMMA_INPUTS_##count     \
                         ", p" modifiers ";\n}\n"                                                  \
                         : ETALON_WGMMA_OPERANDS_##count(constraint)                               \
                         : "l"(a), "l"(b), "r"(keep)                                               \
                         : "memory");                                                              \
        }                                                                                          \
    }

ETALON_WGMMA(bf16, 128, 64, float, "+f", "m64n128k16.f32.bf16.bf16", ", 1, 1, 0, 0");
ETALON_WGMMA(fp16, 128, 64, float, "+f", "m64n128k16.f32.f16.f16", ", 1, 1, 0, 0");
ETALON_WGMMA(tf32, 128, 64, float, "+f", "m64n128k8.f32.tf32.tf32", ", 1, 1");
ETALON_WGMMA(int8, 128, 64, std::int32_t, "+r", "m64n128k32.s32.s8.s8", "");
ETALON_WGMMA(bf16, 256, 128, float, "+f", "m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0");
ETALON_WGMMA(fp16, 256, 128, float, "+f", "m64n256k16.f32.f16.f16", ", 1, 1, 0, 0");
ETALON_WGMMA(tf32, 256, 128, float, "+f", "m64n256k8.f32.tf32.tf32", ", 1, 1");
ETALON_WGMMA(int8, 256, 128, std::int32_t, "+r", "m64n256k32.s32.s8.s8", "");
ETALON_WGMMA(fp8, 128, 64, float, "+f", "m64n128k32.f32.e4m3.e4m3", ", 1, 1");

#undef ETALON_WGMMA
#undef ETALON_WGMMA_OPERANDS_128
#undef ETALON_WGMMA_OPERANDS_64
#undef ETALON_WGMMA_HALF
#undef ETALON_WGMMA_EIGHT
#undef ETALON_WGMMA_KEEP_128
#undef ETALON_WGMMA_KEEP_64
#undef ETALON_WGMMA_INPUTS_128
#undef ETALON_WGMMA_INPUTS_64
#undef ETALON_WGMMA_REGISTERS_128
#undef ETALON_WGMMA_REGISTERS_64

}  // namespace etalon::kernels::sm90
#endif
