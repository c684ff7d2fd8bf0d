// C[m,n] = A[m,k] · B[n,k]ᵀ. Panels of A (mr rows) and B (nr columns) are packed along k into
// 32-bit units (a float, or a pair of bf16 where the CPU multiplies those), and a register tile of
// mr × nr accumulates over kc units (Goto and van de Geijn 2008). Few rows: dot products, since a
// packed B would be read once only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

#include "kernels/host/host_kernels.h"
#include "kernels/host/vector.h"

namespace {

namespace host = etalon::kernels::host;

// 32 registers hold 12 × 2 accumulators, 16 hold 6 × 2.
constexpr int mr = width == 16 ? 12 : width == 8 ? 6 : 4;
constexpr int nr = 2 * width;
constexpr std::int64_t kc = 384;      // an A panel and a B panel stay in the first level
constexpr std::int64_t mc = 12 * mr;  // an A block stays in the second
constexpr std::int64_t nc = 2048;     // a B block stays in the third
constexpr std::int64_t few_rows = 4;

// One element, as a float, in each 32-bit unit.
template <typename T>
struct WidePacking {
    using Element = T;
    static constexpr int elements_per_unit = 1;
    static float unit(const T* from, std::int64_t count) { return count > 0 ? widen(*from) : 0.0F; }
    static Floats multiply_add(Floats sum, float a, Floats b) { return sum + a * b; }
};

#if defined(__AVX512BF16__)
// Two neighbours along k in each unit.
struct PairPacking {
    using Element = std::uint16_t;
    static constexpr int elements_per_unit = 2;
    static float unit(const std::uint16_t* from, std::int64_t count) {
        const std::uint32_t low = count > 0 ? from[0] : 0U, high = count > 1 ? from[1] : 0U;
        return as<float>(low | high << 16);
    }
    static Floats multiply_add(Floats sum, float a, Floats b) {
        const __m512i pairs = _mm512_set1_epi32(as<std::int32_t>(a));
        return as<Floats>(_mm512_dpbf16_ps(as<__m512>(sum), as<__m512bh>(pairs), as<__m512bh>(b)));
    }
};
#endif

// `lines` rows of k-major elements, from element `at` on, into to[unit][panel]; missing lines and
// elements are 0.
template <typename Packing, int panel>
void pack(const typename Packing::Element* from, std::int64_t ld, std::int64_t lines,
          std::int64_t elements, float* to) {
    const std::int64_t units =
        (elements + Packing::elements_per_unit - 1) / Packing::elements_per_unit;
    for (std::int64_t line = 0; line < panel; ++line) {
        const auto* row = from + line * ld;
        for (std::int64_t u = 0; u < units; ++u) {
            const std::int64_t at = u * Packing::elements_per_unit;
            to[u * panel + line] = line < lines ? Packing::unit(row + at, elements - at) : 0.0F;
        }
    }
}

template <typename Packing>
void tile(const float* a, const float* b, std::int64_t units, float* to) {
    Floats sums[mr][2] = {};
    for (std::int64_t u = 0; u < units; ++u) {
        const Floats b0 = load(b + u * nr), b1 = load(b + u * nr + width);
#pragma GCC unroll 12
        for (int i = 0; i < mr; ++i) {
            const float ai = a[u * mr + i];
            sums[i][0] = Packing::multiply_add(sums[i][0], ai, b0);
            sums[i][1] = Packing::multiply_add(sums[i][1], ai, b1);
        }
    }
    for (int i = 0; i < mr; ++i) {
        store(to + i * nr, sums[i][0]);
        store(to + i * nr + width, sums[i][1]);
    }
}

struct Scratch {
    std::vector<float> a, b, c;
};
// Kept between calls: a timed launch allocates nothing after its warm-up.
Scratch& scratch() {
    thread_local Scratch buffers;
    return buffers;
}

template <typename Packing>
void gemm_blocked(const host::GemmArgs& args) {
    using T = typename Packing::Element;
    Scratch& s = scratch();
    const std::int64_t kc_elements = kc * Packing::elements_per_unit;
    s.a.resize(static_cast<std::size_t>(mc * kc));
    s.b.resize(static_cast<std::size_t>((nc + nr) * kc));
    // Sums over blocks of k, in fp32, for one block of columns.
    s.c.resize(static_cast<std::size_t>(args.m * std::min(nc, args.n)));
    float block[mr * nr];
    const auto* a = static_cast<const T*>(args.a);
    const auto* b = static_cast<const T*>(args.b);

    for (std::int64_t j0 = 0; j0 < args.n; j0 += nc) {
        const std::int64_t columns = std::min(nc, args.n - j0);
        for (std::int64_t k0 = 0; k0 < args.k; k0 += kc_elements) {
            const std::int64_t depth = std::min(kc_elements, args.k - k0);
            const std::int64_t units =
                (depth + Packing::elements_per_unit - 1) / Packing::elements_per_unit;
            for (std::int64_t j = 0; j < columns; j += nr) {
                pack<Packing, nr>(b + (j0 + j) * args.ldb + k0, args.ldb,
                                  std::min<std::int64_t>(nr, columns - j), depth,
                                  s.b.data() + j * units);
            }
            for (std::int64_t i0 = 0; i0 < args.m; i0 += mc) {
                const std::int64_t rows = std::min(mc, args.m - i0);
                for (std::int64_t i = 0; i < rows; i += mr) {
                    pack<Packing, mr>(a + (i0 + i) * args.lda + k0, args.lda,
                                      std::min<std::int64_t>(mr, rows - i), depth,
                                      s.a.data() + i * units);
                }
                for (std::int64_t j = 0; j < columns; j += nr) {
                    for (std::int64_t i = 0; i < rows; i += mr) {
                        tile<Packing>(s.a.data() + i * units, s.b.data() + j * units, units, block);
                        const std::int64_t used_rows = std::min<std::int64_t>(mr, rows - i);
                        const std::int64_t used = std::min<std::int64_t>(nr, columns - j);
                        for (std::int64_t r = 0; r < used_rows; ++r) {
                            float* to = s.c.data() + (i0 + i + r) * columns + j;
                            for (std::int64_t c = 0; c < used; ++c) {
                                to[c] = (k0 == 0 ? 0.0F : to[c]) + block[r * nr + c];
                            }
                        }
                    }
                }
            }
        }
        for (std::int64_t i = 0; i < args.m; ++i) {
            T* to = static_cast<T*>(args.c) + i * args.ldc + j0;
            const float* from = s.c.data() + i * columns;
            std::int64_t c = 0;
            for (; c + width <= columns; c += width) store(to + c, load(from + c));
            for (; c < columns; ++c) narrow(to + c, from[c]);
        }
    }
}

// rows ≤ few_rows: each row of B is read once, from memory, for all rows of A.
template <typename T, int rows>
void gemm_dots(const host::GemmArgs& args) {
    constexpr int lines = 4;
    const auto* a = static_cast<const T*>(args.a);
    const auto* b = static_cast<const T*>(args.b);
    const std::int64_t whole = args.k / width * width;
    for (std::int64_t j = 0; j < args.n; j += lines) {
        const std::int64_t used = std::min<std::int64_t>(lines, args.n - j);
        const T* line[lines];
        for (std::int64_t l = 0; l < lines; ++l)
            line[l] = b + (j + std::min(l, used - 1)) * args.ldb;
        Floats sums[rows][lines] = {};
        for (std::int64_t p = 0; p < whole; p += width) {
            for (int i = 0; i < rows; ++i) {
                const Floats x = load(a + i * args.lda + p);
                for (int l = 0; l < lines; ++l) sums[i][l] += x * load(line[l] + p);
            }
        }
        for (int i = 0; i < rows; ++i) {
            for (std::int64_t l = 0; l < used; ++l) {
                float sum = sum_of(sums[i][l]);
                for (std::int64_t p = whole; p < args.k; ++p) {
                    sum += widen(a[i * args.lda + p]) * widen(line[l][p]);
                }
                narrow(static_cast<T*>(args.c) + i * args.ldc + j + l, sum);
            }
        }
    }
}

template <typename T>
bool gemm_of_few_rows(const host::GemmArgs& args) {
    switch (args.m) {
        case 1:
            gemm_dots<T, 1>(args);
            return true;
        case 2:
            gemm_dots<T, 2>(args);
            return true;
        case 3:
            gemm_dots<T, 3>(args);
            return true;
        case few_rows:
            gemm_dots<T, few_rows>(args);
            return true;
        default:
            return false;
    }
}

void gemm_any(const host::GemmArgs& args) {
    if (args.type == host::Type::fp32) {
        if (!gemm_of_few_rows<float>(args)) gemm_blocked<WidePacking<float>>(args);
        return;
    }
    if (gemm_of_few_rows<std::uint16_t>(args)) return;
#if defined(__AVX512BF16__)
    gemm_blocked<PairPacking>(args);
#else
    gemm_blocked<WidePacking<std::uint16_t>>(args);
#endif
}

}  // namespace
