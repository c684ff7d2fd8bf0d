// wgmma with A in registers and B as rows of K: D += A · B, for 64 rows of A and n columns of B.
// What the second product of attention needs: weights from registers, values as they lie in memory.
//
// B is 16-bit, rows of K under the 128-byte swizzle, 64 columns a slab. D as in sm90_wgmma.cuh; A
// of a thread: rows warp·16 + lane/4 (+ 8 in words 1 and 3), columns 2·(lane%4) and the next (+ 8
// in words 2 and 3).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

// `slab_bytes` from one 64 columns to the next; 1024 bytes from one group of eight rows of K to the
// next (PTX ISA, "Strides": MN-major). Adding 128 moves on by 16 rows of K.
__device__ inline std::uint64_t rows_descriptor(std::uint32_t address, int slab_bytes) {
    constexpr std::uint64_t kStride = std::uint64_t{1024 >> 4} << 32;
    constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
    return ((address & 0x3FFFFU) >> 4) | (static_cast<std::uint64_t>(slab_bytes >> 4) << 16) |
           kStride | kSwizzle128;
}

template <typename T, int n>
struct WgmmaValues;

#define ETALON_D4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define ETALON_D16(i) ETALON_D4(i), ETALON_D4((i) + 4), ETALON_D4((i) + 8), ETALON_D4((i) + 12)
#define ETALON_D32(i) ETALON_D16(i), ETALON_D16((i) + 16)

#define ETALON_VALUES_64(T, name)                                                             \
    template <>                                                                               \
    struct WgmmaValues<T, 64> {                                                               \
        __device__ static void multiply(float (&d)[32], const std::uint32_t (&a)[4],          \
                                        std::uint64_t b) {                                    \
            asm volatile(                                                                     \
                "wgmma.mma_async.sync.aligned.m64n64k16.f32." name "." name                   \
                " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
                "%31}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"                                \
                : ETALON_D32(0)                                                               \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                          \
                : "memory");                                                                  \
        }                                                                                     \
    }
#define ETALON_VALUES_128(T, name)                                                            \
    template <>                                                                               \
    struct WgmmaValues<T, 128> {                                                              \
        __device__ static void multiply(float (&d)[64], const std::uint32_t (&a)[4],          \
                                        std::uint64_t b) {                                    \
            asm volatile(                                                                     \
                "wgmma.mma_async.sync.aligned.m64n128k16.f32." name "." name                  \
                " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
                "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
                "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
                "%61, %62, %63}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"                      \
                : ETALON_D32(0), ETALON_D32(32)                                               \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                          \
                : "memory");                                                                  \
        }                                                                                     \
    }

ETALON_VALUES_64(__nv_bfloat16, "bf16");
ETALON_VALUES_64(__half, "f16");
ETALON_VALUES_128(__nv_bfloat16, "bf16");
ETALON_VALUES_128(__half, "f16");

#undef ETALON_VALUES_128
#undef ETALON_VALUES_64
#undef ETALON_D32
#undef ETALON_D16
#undef ETALON_D4

}  // namespace etalon::kernels::sm90
#endif
