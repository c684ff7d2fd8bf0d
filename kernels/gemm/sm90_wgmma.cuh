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

// Registers of D in the instruction's text, by their number: 8 to 256 columns take 4 to 128.
#define ETALON_WGMMA_REGISTERS_4 "%0, %1, %2, %3"
#define ETALON_WGMMA_REGISTERS_8 \
    ETALON_WGMMA_REGISTERS_4     \
    ", %4, %5, %6, %7"
#define ETALON_WGMMA_REGISTERS_16 \
    ETALON_WGMMA_REGISTERS_8      \
    ", %8, %9, %10, %11, %12, %13, %14, %15"
#define ETALON_WGMMA_REGISTERS_32 \
    ETALON_WGMMA_REGISTERS_16     \
    ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ETALON_WGMMA_REGISTERS_64                                                      \
    ETALON_WGMMA_REGISTERS_32                                                          \
    ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ETALON_WGMMA_REGISTERS_80 \
    ETALON_WGMMA_REGISTERS_64     \
    ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define ETALON_WGMMA_REGISTERS_96 \
    ETALON_WGMMA_REGISTERS_80     \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define ETALON_WGMMA_REGISTERS_112 \
    ETALON_WGMMA_REGISTERS_96      \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define ETALON_WGMMA_REGISTERS_128                                                                 \
    ETALON_WGMMA_REGISTERS_112                                                                     \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
    "%127"
// The operands after them: the two descriptors, and `keep`.
#define ETALON_WGMMA_INPUTS_4 "%4, %5"
#define ETALON_WGMMA_KEEP_4 "%6"
#define ETALON_WGMMA_INPUTS_8 "%8, %9"
#define ETALON_WGMMA_KEEP_8 "%10"
#define ETALON_WGMMA_INPUTS_16 "%16, %17"
#define ETALON_WGMMA_KEEP_16 "%18"
#define ETALON_WGMMA_INPUTS_32 "%32, %33"
#define ETALON_WGMMA_KEEP_32 "%34"
#define ETALON_WGMMA_INPUTS_64 "%64, %65"
#define ETALON_WGMMA_KEEP_64 "%66"
#define ETALON_WGMMA_INPUTS_80 "%80, %81"
#define ETALON_WGMMA_KEEP_80 "%82"
#define ETALON_WGMMA_INPUTS_96 "%96, %97"
#define ETALON_WGMMA_KEEP_96 "%98"
#define ETALON_WGMMA_INPUTS_112 "%112, %113"
#define ETALON_WGMMA_KEEP_112 "%114"
#define ETALON_WGMMA_INPUTS_128 "%128, %129"
#define ETALON_WGMMA_KEEP_128 "%130"

// The same registers as operands under a constraint.
#define ETALON_WGMMA_FOUR(constraint, i) \
    constraint(d[i]), constraint(d[(i) + 1]), constraint(d[(i) + 2]), constraint(d[(i) + 3])
#define ETALON_WGMMA_SIXTEEN(constraint, i)                                   \
    ETALON_WGMMA_FOUR(constraint, i), ETALON_WGMMA_FOUR(constraint, (i) + 4), \
        ETALON_WGMMA_FOUR(constraint, (i) + 8), ETALON_WGMMA_FOUR(constraint, (i) + 12)
#define ETALON_WGMMA_OPERANDS_4(constraint) ETALON_WGMMA_FOUR(constraint, 0)
#define ETALON_WGMMA_OPERANDS_8(constraint) \
    ETALON_WGMMA_FOUR(constraint, 0), ETALON_WGMMA_FOUR(constraint, 4)
#define ETALON_WGMMA_OPERANDS_16(constraint) ETALON_WGMMA_SIXTEEN(constraint, 0)
#define ETALON_WGMMA_OPERANDS_32(constraint) \
    ETALON_WGMMA_OPERANDS_16(constraint), ETALON_WGMMA_SIXTEEN(constraint, 16)
#define ETALON_WGMMA_OPERANDS_64(constraint)                                    \
    ETALON_WGMMA_OPERANDS_32(constraint), ETALON_WGMMA_SIXTEEN(constraint, 32), \
        ETALON_WGMMA_SIXTEEN(constraint, 48)
#define ETALON_WGMMA_OPERANDS_80(constraint) \
    ETALON_WGMMA_OPERANDS_64(constraint), ETALON_WGMMA_SIXTEEN(constraint, 64)
#define ETALON_WGMMA_OPERANDS_96(constraint) \
    ETALON_WGMMA_OPERANDS_80(constraint), ETALON_WGMMA_SIXTEEN(constraint, 80)
#define ETALON_WGMMA_OPERANDS_112(constraint) \
    ETALON_WGMMA_OPERANDS_96(constraint), ETALON_WGMMA_SIXTEEN(constraint, 96)
#define ETALON_WGMMA_OPERANDS_128(constraint) \
    ETALON_WGMMA_OPERANDS_112(constraint), ETALON_WGMMA_SIXTEEN(constraint, 112)

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

#define ETALON_WGMMA_BF16(n, count) \
    ETALON_WGMMA(bf16, n, count, float, "+f", "m64n" #n "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
#define ETALON_WGMMA_FP16(n, count) \
    ETALON_WGMMA(fp16, n, count, float, "+f", "m64n" #n "k16.f32.f16.f16", ", 1, 1, 0, 0")
#define ETALON_WGMMA_FP8(n, count) \
    ETALON_WGMMA(fp8, n, count, float, "+f", "m64n" #n "k32.f32.e4m3.e4m3", ", 1, 1")
#define ETALON_WGMMA_TF32(n, count) \
    ETALON_WGMMA(tf32, n, count, float, "+f", "m64n" #n "k8.f32.tf32.tf32", ", 1, 1")
#define ETALON_WGMMA_INT8(n, count) \
    ETALON_WGMMA(int8, n, count, std::int32_t, "+r", "m64n" #n "k32.s32.s8.s8", "")

ETALON_WGMMA_BF16(8, 4);
ETALON_WGMMA_BF16(16, 8);
ETALON_WGMMA_BF16(32, 16);
ETALON_WGMMA_BF16(64, 32);
ETALON_WGMMA_BF16(128, 64);
ETALON_WGMMA_BF16(160, 80);
ETALON_WGMMA_BF16(192, 96);
ETALON_WGMMA_BF16(224, 112);
ETALON_WGMMA_BF16(256, 128);

ETALON_WGMMA_FP16(8, 4);
ETALON_WGMMA_FP16(16, 8);
ETALON_WGMMA_FP16(32, 16);
ETALON_WGMMA_FP16(64, 32);
ETALON_WGMMA_FP16(128, 64);
ETALON_WGMMA_FP16(160, 80);
ETALON_WGMMA_FP16(192, 96);
ETALON_WGMMA_FP16(224, 112);
ETALON_WGMMA_FP16(256, 128);

ETALON_WGMMA_FP8(8, 4);
ETALON_WGMMA_FP8(16, 8);
ETALON_WGMMA_FP8(32, 16);
ETALON_WGMMA_FP8(64, 32);
ETALON_WGMMA_FP8(128, 64);
ETALON_WGMMA_FP8(160, 80);
ETALON_WGMMA_FP8(192, 96);

ETALON_WGMMA_TF32(128, 64);
ETALON_WGMMA_TF32(256, 128);

ETALON_WGMMA_INT8(128, 64);
ETALON_WGMMA_INT8(256, 128);

#undef ETALON_WGMMA_BF16
#undef ETALON_WGMMA_FP16
#undef ETALON_WGMMA_FP8
#undef ETALON_WGMMA_TF32
#undef ETALON_WGMMA_INT8
#undef ETALON_WGMMA
#undef ETALON_WGMMA_OPERANDS_128
#undef ETALON_WGMMA_OPERANDS_112
#undef ETALON_WGMMA_OPERANDS_96
#undef ETALON_WGMMA_OPERANDS_80
#undef ETALON_WGMMA_OPERANDS_64
#undef ETALON_WGMMA_OPERANDS_32
#undef ETALON_WGMMA_OPERANDS_16
#undef ETALON_WGMMA_OPERANDS_8
#undef ETALON_WGMMA_OPERANDS_4
#undef ETALON_WGMMA_SIXTEEN
#undef ETALON_WGMMA_FOUR
#undef ETALON_WGMMA_KEEP_128
#undef ETALON_WGMMA_INPUTS_128
#undef ETALON_WGMMA_REGISTERS_128
#undef ETALON_WGMMA_KEEP_112
#undef ETALON_WGMMA_INPUTS_112
#undef ETALON_WGMMA_REGISTERS_112
#undef ETALON_WGMMA_KEEP_96
#undef ETALON_WGMMA_INPUTS_96
#undef ETALON_WGMMA_REGISTERS_96
#undef ETALON_WGMMA_KEEP_80
#undef ETALON_WGMMA_INPUTS_80
#undef ETALON_WGMMA_REGISTERS_80
#undef ETALON_WGMMA_KEEP_64
#undef ETALON_WGMMA_INPUTS_64
#undef ETALON_WGMMA_REGISTERS_64
#undef ETALON_WGMMA_KEEP_32
#undef ETALON_WGMMA_INPUTS_32
#undef ETALON_WGMMA_REGISTERS_32
#undef ETALON_WGMMA_KEEP_16
#undef ETALON_WGMMA_INPUTS_16
#undef ETALON_WGMMA_REGISTERS_16
#undef ETALON_WGMMA_KEEP_8
#undef ETALON_WGMMA_INPUTS_8
#undef ETALON_WGMMA_REGISTERS_8
#undef ETALON_WGMMA_KEEP_4
#undef ETALON_WGMMA_INPUTS_4
#undef ETALON_WGMMA_REGISTERS_4

}  // namespace etalon::kernels::sm90
#endif
