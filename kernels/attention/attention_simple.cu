// Attention without tricks, for any sizes, types, masks and pages: the check of the fast kernels in
// double, and in fp32 what runs where no fast kernel does.
//
// A block has 32 queries of one head and goes through the keys 32 at a time: scores of a tile by
// two × two a thread, the running maximum and sum of a row by a warp, then the weighted sum of
// values, a row and every eighth column a thread. Tiles are kept as fp32, which every stored type
// fits. Bounded by shared memory: a 4-byte word a multiplication.
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_place.h"
#include "kernels/util/element.cuh"

namespace etalon::kernels {
namespace {

constexpr int kQueries = 32;
constexpr int kKeys = 32;
constexpr int kThreads = 256;
constexpr int kMaxDim = 576;

template <typename Real>
__device__ Real exponential(Real x) {
    if constexpr (sizeof(Real) == 8) {
        return exp(x);
    } else {
        return exp2f(x * 1.44269504F);
    }
}

template <typename Real>
struct Shared {
    Real scores[kQueries][kKeys + 1];
    Real rescale[kQueries];
    Real sum[kQueries];
};

// `rows` tokens of `dim` elements into rows of dim + 1 floats; what is not there is 0.
template <typename T, class Offset>
__device__ void load_tile(float* tile, const T* data, int rows, int dim, float scale,
                          Offset&& offset) {
    for (int row = static_cast<int>(threadIdx.x) / 32; row < kKeys; row += kThreads / 32) {
        const T* const from = row < rows ? data + offset(row) : nullptr;
        for (int c = static_cast<int>(threadIdx.x) % 32; c < dim; c += 32) {
            tile[row * (dim + 1) + c] =
                from != nullptr ? static_cast<float>(to_double(from[c])) * scale : 0.0F;
        }
    }
}

template <typename Real, int kColumns, typename Query, typename Key, typename Out>
__global__ void __launch_bounds__(kThreads) attention_simple_kernel(AttentionArgs args, Out* out) {
    extern __shared__ float tiles[];
    __shared__ Shared<Real> shared;
    const int tid = static_cast<int>(threadIdx.x);
    const int head = static_cast<int>(blockIdx.y), b = static_cast<int>(blockIdx.z);
    const int kv_head = head / static_cast<int>(args.heads / args.kv_heads);
    const int d = static_cast<int>(args.head_dim), dv = static_cast<int>(args.value_dim);
    const AttentionSequence of(args, b);
    const int first = static_cast<int>(blockIdx.x) * kQueries;
    const int rows = min(kQueries, of.queries - first);
    if (rows <= 0) return;
    const bool packed = args.query_starts != nullptr;
    const auto scale_of = [kv_head](const float* scales) {
        return scales != nullptr ? scales[kv_head] : 1.0F;
    };
    float* const q_tile = tiles;
    float* const kv_tile = tiles + kQueries * (d + 1);
    load_tile(q_tile, static_cast<const Query*>(args.q), rows, d, scale_of(args.q_scale),
              [&](int row) { return query_offset(args, args.q_at, of, b, head, first + row); });

    Real accumulator[kColumns] = {};
    const int out_row = tid / 8;
    const int warp = tid / 32, lane = tid % 32;
    constexpr int kRowsOfWarp = kQueries / (kThreads / 32);
    Real maximum[kRowsOfWarp], sum[kRowsOfWarp];
    for (int r = 0; r < kRowsOfWarp; ++r) {
        maximum[r] = -INFINITY;
        sum[r] = 0;
    }
    const int stop = of.high(args, first + rows - 1);
    for (int key = of.low(args, first) / kKeys * kKeys; key < stop; key += kKeys) {
        const int here = min(kKeys, of.keys - key);
        load_tile(kv_tile, static_cast<const Key*>(args.k), here, d, scale_of(args.k_scale),
                  [&](int row) { return key_offset(args, args.k_at, of, b, kv_head, key + row); });
        __syncthreads();
        const int y = tid / 16, x = tid % 16;
        Real dot[2][2] = {};
        for (int c = 0; c < d; ++c) {
            const Real q0 = q_tile[y * (d + 1) + c], q1 = q_tile[(y + 16) * (d + 1) + c];
            const Real k0 = kv_tile[x * (d + 1) + c], k1 = kv_tile[(x + 16) * (d + 1) + c];
            dot[0][0] += q0 * k0;
            dot[0][1] += q0 * k1;
            dot[1][0] += q1 * k0;
            dot[1][1] += q1 * k1;
        }
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                const int row = first + y + 16 * i, column = key + x + 16 * j;
                const bool seen =
                    row < of.queries && column >= of.low(args, row) && column < of.high(args, row);
                shared.scores[y + 16 * i][x + 16 * j] =
                    seen ? dot[i][j] * static_cast<Real>(args.scale) : -INFINITY;
            }
        }
        __syncthreads();
        load_tile(kv_tile, static_cast<const Key*>(args.v), here, dv, scale_of(args.v_scale),
                  [&](int row) { return key_offset(args, args.v_at, of, b, kv_head, key + row); });
        for (int r = 0; r < kRowsOfWarp; ++r) {
            const int row = warp * kRowsOfWarp + r;
            const Real score = shared.scores[row][lane];
            Real most = score;
            for (int m = 16; m > 0; m /= 2) most = max(most, __shfl_xor_sync(~0U, most, m));
            most = max(most, maximum[r]);
            const Real subtract = most == -INFINITY ? Real{0} : most;
            const Real p = exponential(score - subtract);
            Real total = p;
            for (int m = 16; m > 0; m /= 2) total += __shfl_xor_sync(~0U, total, m);
            const Real rescale =
                maximum[r] == -INFINITY ? Real{0} : exponential(maximum[r] - subtract);
            sum[r] = sum[r] * rescale + total;
            maximum[r] = most;
            shared.scores[row][lane] = p;
            if (lane == 0) shared.rescale[row] = rescale;
        }
        __syncthreads();
        const Real rescale = shared.rescale[out_row];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            const int c = tid % 8 + 8 * j;
            if (c >= dv) break;
            Real value = accumulator[j] * rescale;
            for (int k = 0; k < here; ++k) {
                value += shared.scores[out_row][k] * static_cast<Real>(kv_tile[k * (dv + 1) + c]);
            }
            accumulator[j] = value;
        }
        __syncthreads();
    }
    for (int r = 0; r < kRowsOfWarp; ++r) {
        if (lane == 0) shared.sum[warp * kRowsOfWarp + r] = sum[r];
    }
    __syncthreads();
    if (out_row >= rows) return;
    // A sum of 0: the row saw nothing.
    const Real total = shared.sum[out_row];
    const Real inverse = total == 0 ? Real{0} : 1 / total;
    // Doubles are dense, in the order of the queries.
    const std::int64_t at =
        sizeof(Real) == 8
            ? (((packed ? 0 : b * args.queries) + of.first_query + first + out_row) * args.heads +
               head) *
                  dv
            : query_offset(args, args.out_at, of, b, head, first + out_row);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
        const int c = tid % 8 + 8 * j;
        if (c < dv) out[at + c] = from_double<Out>(static_cast<double>(accumulator[j] * inverse));
    }
}

template <typename Real, int kColumns, typename Query, typename Key, typename Out>
cudaError_t launch(const AttentionArgs& args, Out* out, cudaStream_t stream) {
    const auto wide = static_cast<std::size_t>(std::max(args.head_dim, args.value_dim) + 1);
    const std::size_t bytes =
        (static_cast<std::size_t>(args.head_dim + 1) * kQueries + wide * kKeys) * sizeof(float);
    const auto kernel = attention_simple_kernel<Real, kColumns, Query, Key, Out>;
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return error;
    const dim3 grid(static_cast<unsigned>((args.queries + kQueries - 1) / kQueries),
                    static_cast<unsigned>(args.heads), static_cast<unsigned>(args.batch));
    kernel<<<grid, kThreads, bytes, stream>>>(args, out);
    return cudaGetLastError();
}

template <typename Real, typename Query, typename Key, typename Out>
cudaError_t of_width(const AttentionArgs& args, Out* out, cudaStream_t stream) {
    if (args.value_dim <= 128) return launch<Real, 16, Query, Key>(args, out, stream);
    if (args.value_dim <= 256) return launch<Real, 32, Query, Key>(args, out, stream);
    return launch<Real, kMaxDim / 8, Query, Key>(args, out, stream);
}

// visit<Query, Key, Output>() with the stored types.
template <class Visit>
cudaError_t visit_types(const AttentionArgs& args, Visit&& visit) {
    using enum AttentionType;
    const auto are = [&](AttentionType query, AttentionType key) {
        return args.query_type == query && args.type == key;
    };
    if (are(fp32, fp32)) return visit.template operator()<float, float, float>();
    if (are(bf16, bf16)) {
        return visit.template operator()<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>();
    }
    if (are(fp16, fp16)) return visit.template operator()<__half, __half, __half>();
    if (are(fp8, fp8)) {
        return visit.template operator()<__nv_fp8_e4m3, __nv_fp8_e4m3, __nv_bfloat16>();
    }
    if (are(bf16, fp8)) {
        return visit.template operator()<__nv_bfloat16, __nv_fp8_e4m3, __nv_bfloat16>();
    }
    return cudaErrorNotSupported;
}

}  // namespace

const char* attention_simple_unsupported(const AttentionArgs& args) {
    if (const char* reason = attention_invalid(args)) return reason;
    if (args.head_dim > kMaxDim || args.value_dim > kMaxDim) {
        return "attention: head_dim and value_dim go up to 576";
    }
    return nullptr;
}

cudaError_t attention_simple(const AttentionArgs& args, cudaStream_t stream) {
    if (attention_simple_unsupported(args) != nullptr) return cudaErrorInvalidValue;
    if (args.batch == 0 || args.queries == 0) return cudaSuccess;
    return visit_types(args, [&]<typename Query, typename Key, typename Out>() {
        return of_width<float, Query, Key>(args, static_cast<Out*>(args.out), stream);
    });
}

cudaError_t attention_reference(const AttentionArgs& args, double* out, cudaStream_t stream) {
    if (attention_simple_unsupported(args) != nullptr) return cudaErrorInvalidValue;
    if (args.batch == 0 || args.queries == 0) return cudaSuccess;
    return visit_types(args, [&]<typename Query, typename Key, typename Out>() {
        return of_width<double, Query, Key>(args, out, stream);
    });
}

}  // namespace etalon::kernels
