// LayerNorm over rows in registers: see kernels/common/row.cuh for tiles and access.
//
// Bounded by memory: one read and one write; weight and bias come from L1 and L2. Predicted 95 %
// of the rate of `copy` from 1024 columns to 32768; half of it for longer rows, which are read
// twice. Figure reached: see results/recorded.
//
// Mean, then squared deviation from it, both of values in registers; of a row that is not kept
// there, each thread takes both of its own values, and these are combined by Chan, Golub and
// LeVeque's formula. Either way a large mean costs no digits of the variance.
#include "kernels/common/row.cuh"
#include "kernels/common/row_reference.cuh"
#include "kernels/norm/norm.h"

namespace etalon::kernels {
namespace {

template <typename T>
struct LayerNormOp {
    struct Partial {
        float count;
        float mean;
        float deviation;  // Σ (x − mean)²
    };
    static constexpr int kOperands = 2;
    static constexpr float kPad = 0.0F;
    const T* operands[2];
    float inverse_cols;
    float epsilon;

    struct Finish {
        float mean;
        float scale;
        __device__ float operator()(float value, const float* operand) const {
            return fmaf((value - mean) * scale, operand[0], operand[1]);
        }
    };

    template <int n, class Valid, class Group>
    __device__ Finish settle(float (&values)[n], Valid valid, Group& group) const {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) sum += values[i];  // padding is 0
        const float mean = group.sum(sum) * inverse_cols;
        float deviation = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) {
            const float apart = valid(i) ? values[i] - mean : 0.0F;
            deviation = fmaf(apart, apart, deviation);
        }
        return {mean, rsqrtf(fmaf(group.sum(deviation), inverse_cols, epsilon))};
    }

    __device__ static Partial identity() {
        return {0.0F, 0.0F, 0.0F};
    }
    __device__ static Partial combine(Partial a, Partial b) {
        const float count = a.count + b.count;
        const float share = count == 0.0F ? 0.0F : __fdividef(b.count, count);
        const float apart = b.mean - a.mean;
        return {count, fmaf(apart, share, a.mean),
                fmaf(apart * apart, a.count * share, a.deviation + b.deviation)};
    }
    __device__ static Partial exchange(Partial partial, int lane_mask) {
        return {__shfl_xor_sync(row::kAllLanes, partial.count, lane_mask),
                __shfl_xor_sync(row::kAllLanes, partial.mean, lane_mask),
                __shfl_xor_sync(row::kAllLanes, partial.deviation, lane_mask)};
    }
    template <int n, class Valid>
    __device__ static Partial reduce(float (&values)[n], Valid valid) {
        float count = 0.0F;
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) {
            sum += values[i];  // padding is 0
            count += valid(i) ? 1.0F : 0.0F;
        }
        const float mean = count == 0.0F ? 0.0F : __fdividef(sum, count);
        float deviation = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) {
            const float apart = valid(i) ? values[i] - mean : 0.0F;
            deviation = fmaf(apart, apart, deviation);
        }
        return {count, mean, deviation};
    }

    __device__ Finish finish(Partial, Partial total) const {
        return {total.mean, rsqrtf(__fdividef(total.deviation, total.count) + epsilon)};
    }
};

template <typename T>
__global__ void __launch_bounds__(row::kReferenceThreads)
    layernorm_reference_kernel(const T* x, const T* weight, const T* bias, double* y,
                               std::int64_t cols, std::int64_t ldx, double epsilon) {
    const T* const from = x + std::int64_t{blockIdx.x} * ldx;
    double* const to = y + std::int64_t{blockIdx.x} * cols;
    const auto n = static_cast<double>(cols);
    const double mean =
        row::sum_columns(cols, [&](std::int64_t col) { return row::as_double(from[col]); }) / n;
    const double deviation = row::sum_columns(cols, [&](std::int64_t col) {
        const double apart = row::as_double(from[col]) - mean;
        return apart * apart;
    });
    const double scale = 1.0 / sqrt(deviation / n + epsilon);
    for (std::int64_t col = threadIdx.x; col < cols; col += row::kReferenceThreads) {
        to[col] = (row::as_double(from[col]) - mean) * scale * row::as_double(weight[col]) +
                  row::as_double(bias[col]);
    }
}

row::Shape shape_of(const NormArgs& args) {
    return {args.rows, args.cols, args.ldx, args.ldy};
}

}  // namespace

cudaError_t layernorm(const NormArgs& args, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        const LayerNormOp<T> op{
            {static_cast<const T*>(args.weight), static_cast<const T*>(args.bias)},
            1.0F / static_cast<float>(args.cols),
            args.epsilon};
        return row::launch(static_cast<const T*>(args.x), static_cast<T*>(args.y), shape_of(args),
                           op, stream);
    });
}

cudaError_t layernorm_reference(const NormArgs& args, double* y, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        layernorm_reference_kernel<<<static_cast<unsigned>(args.rows), row::kReferenceThreads, 0,
                                     stream>>>(static_cast<const T*>(args.x),
                                               static_cast<const T*>(args.weight),
                                               static_cast<const T*>(args.bias), y, args.cols,
                                               args.ldx, static_cast<double>(args.epsilon));
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
