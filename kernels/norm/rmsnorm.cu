// RMSNorm over rows in registers: see kernels/common/row.cuh for tiles and access.
//
// Bounded by memory: one read and one write; the weight comes from L1 and L2. Predicted 95 % of
// the rate of `copy` from 1024 columns to 32768; half of it for longer rows, which are read twice.
// Figure reached: see results/recorded.
#include "kernels/common/row.cuh"
#include "kernels/common/row_reference.cuh"
#include "kernels/norm/norm.h"

namespace etalon::kernels {
namespace {

template <typename T>
struct RmsNormOp {
    using Partial = float;  // Σ x²
    static constexpr int kOperands = 1;
    static constexpr float kPad = 0.0F;
    const T* operands[1];
    float inverse_cols;
    float epsilon;

    template <int n, class Valid, class Group>
    __device__ auto settle(float (&values)[n], Valid valid, Group& group) const {
        return finish(0.0F, group.sum(reduce(values, valid)));
    }

    __device__ static Partial identity() { return 0.0F; }
    __device__ static Partial combine(Partial a, Partial b) { return a + b; }
    __device__ static Partial exchange(Partial partial, int lane_mask) {
        return __shfl_xor_sync(row::kAllLanes, partial, lane_mask);
    }
    template <int n, class Valid>
    __device__ static Partial reduce(float (&values)[n], Valid) {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) sum = fmaf(values[i], values[i], sum);
        return sum;
    }

    struct Finish {
        float scale;
        __device__ float operator()(float value, const float* operand) const {
            return value * scale * operand[0];
        }
    };
    __device__ Finish finish(Partial, Partial total) const {
        return {rsqrtf(fmaf(total, inverse_cols, epsilon))};
    }
};

template <typename T>
__global__ void __launch_bounds__(row::kReferenceThreads)
    rmsnorm_reference_kernel(const T* x, const T* weight, double* y, std::int64_t cols,
                             std::int64_t ldx, double epsilon) {
    const T* const from = x + std::int64_t{blockIdx.x} * ldx;
    double* const to = y + std::int64_t{blockIdx.x} * cols;
    const double sum_sq = row::sum_columns(cols, [&](std::int64_t col) {
        const double value = row::as_double(from[col]);
        return value * value;
    });
    const double scale = 1.0 / sqrt(sum_sq / static_cast<double>(cols) + epsilon);
    for (std::int64_t col = threadIdx.x; col < cols; col += row::kReferenceThreads) {
        to[col] = row::as_double(from[col]) * scale * row::as_double(weight[col]);
    }
}

row::Shape shape_of(const NormArgs& args) {
    return {args.rows, args.cols, args.ldx, args.ldy};
}

}  // namespace

cudaError_t rmsnorm(const NormArgs& args, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        const RmsNormOp<T> op{{static_cast<const T*>(args.weight)},
                              1.0F / static_cast<float>(args.cols),
                              args.epsilon};
        return row::launch(static_cast<const T*>(args.x), static_cast<T*>(args.y), shape_of(args),
                           op, stream);
    });
}

cudaError_t rmsnorm_reference(const NormArgs& args, double* y, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        rmsnorm_reference_kernel<<<static_cast<unsigned>(args.rows), row::kReferenceThreads, 0,
                                   stream>>>(static_cast<const T*>(args.x),
                                             static_cast<const T*>(args.weight), y, args.cols,
                                             args.ldx, static_cast<double>(args.epsilon));
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
