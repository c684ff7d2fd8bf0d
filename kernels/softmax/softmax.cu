// Softmax over rows in registers: see kernels/common/row.cuh for tiles and access.
//
// Bounded by memory: one read and one write. Predicted 95 % of the rate of `copy` from 1024
// columns to 32768; half of it for longer rows, which are read twice. Figure reached: see
// results/recorded.
//
// Maximum, then the sum of exp2(x·log₂e − max), both of values in registers. Of a row that is not
// kept there, each thread subtracts its own maximum and rescales by exp2(max − row maximum) when
// the row's is known, so maximum and sum travel together.
#include "kernels/softmax/softmax.h"

#include "kernels/common/row.cuh"
#include "kernels/common/row_reference.cuh"

namespace etalon::kernels {
namespace {

constexpr float kLog2e = 1.44269504F;

// 2^x to two units in the last place; 0 below the least normal number.
__device__ inline float power_of_2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// 2^(from − to), where −∞ stands for "no element yet".
__device__ inline float rescale(float from, float to) {
    return from == -INFINITY ? 0.0F : power_of_2(from - to);
}

template <typename T>
struct SoftmaxOp {
    struct Partial {
        float reference;  // the exponent that is subtracted, base 2: rounded max · log₂e
        float sum;        // Σ exp2(x·log₂e − reference)
    };
    static constexpr int kOperands = 0;
    static constexpr float kPad = -INFINITY;
    const T* operands[1];

    struct Finish {
        float factor;
        __device__ float operator()(float value, const float*) const { return value * factor; }
    };

    template <int n, class Valid, class Group>
    __device__ Finish settle(float (&values)[n], Valid, Group& group) const {
        float maximum = values[0];
#pragma unroll
        for (int i = 1; i < n; ++i) maximum = fmaxf(maximum, values[i]);
        maximum = group.max(maximum) * kLog2e;
        const float sum = group.sum(exponentials(values, maximum));
        return {inverse(sum)};
    }

    __device__ static Partial identity() {
        return {-INFINITY, 0.0F};
    }
    __device__ static Partial combine(Partial a, Partial b) {
        const float reference = fmaxf(a.reference, b.reference);
        return {reference,
                a.sum * rescale(a.reference, reference) + b.sum * rescale(b.reference, reference)};
    }
    __device__ static Partial exchange(Partial partial, int lane_mask) {
        return {__shfl_xor_sync(row::kAllLanes, partial.reference, lane_mask),
                __shfl_xor_sync(row::kAllLanes, partial.sum, lane_mask)};
    }
    template <int n, class Valid>
    __device__ static Partial reduce(float (&values)[n], Valid) {
        float maximum = values[0];
#pragma unroll
        for (int i = 1; i < n; ++i) maximum = fmaxf(maximum, values[i]);
        const float reference = maximum * kLog2e;
        return {reference, exponentials(values, reference)};
    }

    __device__ Finish finish(Partial own, Partial total) const {
        return {rescale(own.reference, total.reference) * inverse(total.sum)};
    }

    // A sum of 0: every element is −∞. Not a number stays not a number.
    __device__ static float inverse(float sum) {
        return sum == 0.0F ? 0.0F : 1.0F / sum;
    }

    // Replaces the values by exp2(x·log₂e − reference) and returns their sum.
    template <int n>
    __device__ static float exponentials(float (&values)[n], float reference) {
        const float subtract = reference == -INFINITY ? 0.0F : reference;
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < n; ++i) {
            values[i] = power_of_2(fmaf(values[i], kLog2e, -subtract));
            sum += values[i];
        }
        return sum;
    }
};

template <typename T>
__global__ void __launch_bounds__(row::kReferenceThreads)
    softmax_reference_kernel(const T* x, double* y, std::int64_t cols, std::int64_t ldx) {
    const T* const from = x + std::int64_t{blockIdx.x} * ldx;
    double* const to = y + std::int64_t{blockIdx.x} * cols;
    const double maximum = row::fold_columns(
        cols, -INFINITY, [&](std::int64_t col) { return row::as_double(from[col]); },
        [](double a, double b) { return fmax(a, b); });
    const double subtract = maximum == -INFINITY ? 0.0 : maximum;
    const double sum = row::sum_columns(
        cols, [&](std::int64_t col) { return exp(row::as_double(from[col]) - subtract); });
    for (std::int64_t col = threadIdx.x; col < cols; col += row::kReferenceThreads) {
        to[col] = sum == 0.0 ? 0.0 : exp(row::as_double(from[col]) - subtract) / sum;
    }
}

row::Shape shape_of(const SoftmaxArgs& args) {
    return {args.rows, args.cols, args.ldx, args.ldy};
}

}  // namespace

cudaError_t softmax(const SoftmaxArgs& args, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        return row::launch(static_cast<const T*>(args.x), static_cast<T*>(args.y), shape_of(args),
                           SoftmaxOp<T>{}, stream);
    });
}

cudaError_t softmax_reference(const SoftmaxArgs& args, double* y, cudaStream_t stream) {
    if (!row::valid(shape_of(args))) return cudaErrorInvalidValue;
    if (args.rows == 0) return cudaSuccess;
    return row::visit_type(args.type, [&]<typename T>() {
        softmax_reference_kernel<<<static_cast<unsigned>(args.rows), row::kReferenceThreads, 0,
                                   stream>>>(static_cast<const T*>(args.x), y, args.cols, args.ldx);
        return cudaGetLastError();
    });
}

}  // namespace etalon::kernels
