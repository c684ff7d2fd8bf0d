// The frame of a row kernel: one read and one write of each row, fp32 inside.
//
// A row lies in the registers of 8, 16 or 32 lanes of a warp (to 1024 columns, up to sixteen rows a
// block) or of one block (to 32768, or 8192 where accesses are scalar); a longer row is read twice.
// A row in registers is settled by its threads, who may ask each other for sums and maxima; of a
// longer one each thread keeps a Partial, and these are combined once:
//
//   struct Op {
//       static constexpr int kOperands = ...;    // arrays of `cols` elements (weight, bias)
//       static constexpr float kPad = ...;       // value in place of columns past the row's end
//       const T* operands[kOperands];
//       // Of a row in registers; may replace the values. Group: sum(float), max(float).
//       template <int n, class Valid, class Group>
//       Finish settle(float (&values)[n], Valid valid, Group& group) const;
//
//       using Partial = ...;                     // what a thread knows of a long row
//       static Partial identity();
//       static Partial combine(Partial, Partial);
//       static Partial exchange(Partial, int lane_mask);       // from lane ^ lane_mask
//       template <int n, class Valid>
//       static Partial reduce(float (&values)[n], Valid valid);  // may replace the values
//       Finish finish(Partial own, Partial total) const;         // Finish: (value, operands) -> y
//   };
//
// Bounded by memory: 2 · rows · cols · sizeof(T) bytes at the rate of `copy`, the weights coming
// from L1 and L2. A block of 1024 threads with 16 elements each keeps 32 KiB (bf16) in flight.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "kernels/common/row_access.cuh"
#include "kernels/common/row_type.h"

namespace etalon::kernels::row {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kLaneRowThreads = 128;
constexpr int kMaxThreads = 1024;
constexpr int kShortElements = 16;

struct Shape {
    std::int64_t rows = 0, cols = 0, ldx = 0, ldy = 0;
};

template <int kLanes, class Combine>
__device__ float all_lanes(float value, Combine combine) {
#pragma unroll
    for (int mask = kLanes / 2; mask > 0; mask /= 2) {
        value = combine(value, __shfl_xor_sync(kAllLanes, value, mask));
    }
    return value;
}

// The threads of a row: so many lanes of a warp.
template <int kLanes>
struct LaneGroup {
    __device__ float sum(float value) {
        return all_lanes<kLanes>(value, [](float a, float b) { return a + b; });
    }
    __device__ float max(float value) {
        return all_lanes<kLanes>(value, [](float a, float b) { return fmaxf(a, b); });
    }
};

// The threads of a row: a block. Each sum or maximum has slots of its own, so that one barrier
// does.
struct BlockGroup {
    static constexpr int kUses = 2;
    float (&slots)[kUses][kMaxThreads / kWarp];
    int used = 0;

    template <class Combine>
    __device__ float all(float value, float identity, Combine combine) {
        value = all_lanes<kWarp>(value, combine);
        float* const mine = slots[used++];
        if (threadIdx.x % kWarp == 0) mine[threadIdx.x / kWarp] = value;
        __syncthreads();
        const unsigned lane = threadIdx.x % kWarp;
        return all_lanes<kWarp>(lane < blockDim.x / kWarp ? mine[lane] : identity, combine);
    }
    __device__ float sum(float value) {
        return all(value, 0.0F, [](float a, float b) { return a + b; });
    }
    __device__ float max(float value) {
        return all(value, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    }
};

template <class Op>
__device__ typename Op::Partial combine_warp(typename Op::Partial partial) {
#pragma unroll
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
        partial = Op::combine(partial, Op::exchange(partial, mask));
    }
    return partial;
}

// Every thread gets the total. Once a kernel: the shared array is not guarded for a second use.
template <class Op>
__device__ typename Op::Partial combine_block(typename Op::Partial partial) {
    __shared__ typename Op::Partial of_warp[kMaxThreads / kWarp];
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int warps = static_cast<int>(blockDim.x) / kWarp;
    partial = combine_warp<Op>(partial);
    if (lane == 0) of_warp[warp] = partial;
    __syncthreads();
    return combine_warp<Op>(lane < warps ? of_warp[lane] : Op::identity());
}

// The operands' vectors that belong to a thread's values.
template <typename T, class Op, int kVec, int kVectors, bool kRagged>
struct Operands {
    static constexpr int kArrays = Op::kOperands > 0 ? Op::kOperands : 1;
    // Registers they take; in few enough, they are fetched together with the row.
    static constexpr int kRegisters =
        Op::kOperands * kVectors * std::max(1, kVec* static_cast<int>(sizeof(T)) / 4);
    static constexpr bool kEarly = kVec > 1 && kRegisters <= 16;

    const Op& op;
    std::int64_t chunk_start;
    Vector<T, kVec> early[kEarly ? kArrays : 1][kEarly ? kVectors : 1];

    __device__ Operands(const Op& of, std::int64_t start,
                        const Share<T, kVec, kVectors, kRagged>& share)
        : op(of), chunk_start(start) {
        if constexpr (kEarly) {
#pragma unroll
            for (int o = 0; o < Op::kOperands; ++o) {
                share.load_raw(op.operands[o] + chunk_start, static_cast<T>(0.0F), early[o]);
            }
        }
    }
    __device__ Vector<T, kVec> vector(int operand, int v,
                                      const Share<T, kVec, kVectors, kRagged>& share) const {
        if constexpr (kEarly) {
            return early[operand][v];
        } else {
            return load<kRagged, T, kVec>(op.operands[operand] + chunk_start + share.column(v),
                                          share.left(v), static_cast<T>(0.0F));
        }
    }
};

template <typename T, class Op, int kVec, int kVectors, bool kRagged, class Finish>
__device__ void finish_chunk(T* chunk, const Share<T, kVec, kVectors, kRagged>& share,
                             const float (&values)[kVec * kVectors],
                             const Operands<T, Op, kVec, kVectors, kRagged>& operands,
                             const Finish& finish) {
    constexpr int kArrays = Operands<T, Op, kVec, kVectors, kRagged>::kArrays;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        Vector<T, kVec> of_array[kArrays];
#pragma unroll
        for (int o = 0; o < Op::kOperands; ++o) of_array[o] = operands.vector(o, v, share);
        Vector<T, kVec> out;
#pragma unroll
        for (int i = 0; i < kVec; ++i) {
            float operand[kArrays] = {};
#pragma unroll
            for (int o = 0; o < Op::kOperands; ++o) {
                operand[o] = static_cast<float>(of_array[o].at[i]);
            }
            out.at[i] = static_cast<T>(finish(values[v * kVec + i], operand));
        }
        store<kRagged, T, kVec>(chunk + share.column(v), share.left(v), out);
    }
}

// The row stays in registers, of kLanes lanes or, where that is 0, of the block.
template <typename T, class Op, int kVec, int kVectors, bool kRagged, int kLanes>
__global__ void __launch_bounds__(kLanes > 0 ? kLaneRowThreads : kMaxThreads)
    row_kernel(const T* x, T* y, Shape shape, Op op) {
    constexpr bool kOfBlock = kLanes == 0;
    const int group = kOfBlock ? static_cast<int>(blockDim.x) : kLanes;
    const int lane = kOfBlock ? static_cast<int>(threadIdx.x)
                              : static_cast<int>(threadIdx.x) % (kOfBlock ? 1 : kLanes);
    const std::int64_t row = kOfBlock ? std::int64_t{blockIdx.x}
                                      : (std::int64_t{blockIdx.x} * kLaneRowThreads + threadIdx.x) /
                                            (kOfBlock ? 1 : kLanes);
    // Lanes past the last row stay, for the others of their warp: theirs has no column.
    const int cols = kOfBlock || row < shape.rows ? static_cast<int>(shape.cols) : 0;

    const Share<T, kVec, kVectors, kRagged> share{lane * kVec, group * kVec, cols};
    float values[kVec * kVectors];
    share.load_values(x + row * shape.ldx, Op::kPad, values);
    const Operands<T, Op, kVec, kVectors, kRagged> operands(op, 0, share);

    const auto valid = [&](int element) { return share.valid(element); };
    const auto finish = [&] {
        if constexpr (kOfBlock) {
            __shared__ float slots[BlockGroup::kUses][kMaxThreads / kWarp];
            BlockGroup threads{slots};
            return op.settle(values, valid, threads);
        } else {
            LaneGroup<kLanes> threads;
            return op.settle(values, valid, threads);
        }
    }();
    finish_chunk(y + row * shape.ldy, share, values, operands, finish);
}

// A row of any length, in chunks, read twice.
template <typename T, class Op, int kVec, int kVectors>
__global__ void __launch_bounds__(kMaxThreads)
    long_row_kernel(const T* x, T* y, Shape shape, Op op) {
    constexpr bool kRagged = false;
    constexpr int kChunk = kMaxThreads * kVec * kVectors;
    const T* const from = x + std::int64_t{blockIdx.x} * shape.ldx;
    T* const to = y + std::int64_t{blockIdx.x} * shape.ldy;
    const auto share_at = [&](std::int64_t start) {
        const std::int64_t left = shape.cols - start;
        return Share<T, kVec, kVectors, kRagged>{static_cast<int>(threadIdx.x) * kVec,
                                                 kMaxThreads * kVec,
                                                 static_cast<int>(left < kChunk ? left : kChunk)};
    };
    float values[kVec * kVectors];

    auto partial = Op::identity();
    for (std::int64_t start = 0; start < shape.cols; start += kChunk) {
        const auto share = share_at(start);
        share.load_values(from + start, Op::kPad, values);
        partial = Op::combine(partial,
                              op.reduce(values, [&](int element) { return share.valid(element); }));
    }
    const auto total = combine_block<Op>(partial);
    for (std::int64_t start = 0; start < shape.cols; start += kChunk) {
        const auto share = share_at(start);
        share.load_values(from + start, Op::kPad, values);
        const Operands<T, Op, kVec, kVectors, kRagged> operands(op, start, share);
        const auto own = op.reduce(values, [&](int element) { return share.valid(element); });
        finish_chunk(to + start, share, values, operands, op.finish(own, total));
    }
}

template <typename T, class Op, int kVec, bool kRagged, int kElements, int kLanes>
void launch_lanes(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    constexpr std::int64_t kRows = kLaneRowThreads / kLanes;
    const auto blocks = static_cast<unsigned>((shape.rows + kRows - 1) / kRows);
    row_kernel<T, Op, kVec, kElements / kVec, kRagged, kLanes>
        <<<blocks, kLaneRowThreads, 0, stream>>>(x, y, shape, op);
}

template <typename T, class Op, int kVec, bool kRagged, int kElements>
void launch_block(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    constexpr std::int64_t kWarpElements = std::int64_t{kElements} * kWarp;
    const std::int64_t threads = (shape.cols + kWarpElements - 1) / kWarpElements * kWarp;
    row_kernel<T, Op, kVec, kElements / kVec, kRagged, 0>
        <<<static_cast<unsigned>(shape.rows), static_cast<unsigned>(threads), 0, stream>>>(
            x, y, shape, op);
}

template <typename T, class Op, int kVec, bool kRagged>
cudaError_t launch_with(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    // Elements a thread of a block: scalar accesses take an address each, hence more registers.
    constexpr int kShort = kVec > 1 ? kShortElements : 8;
    constexpr int kLong = kVec > 1 ? 32 : 8;
    constexpr int kChunk = kVec > 1 ? 16 : 4;
    // So few rows leave SMs without one: a row's latency counts, and more threads shorten it.
    constexpr std::int64_t kFewRows = 132;
    const std::int64_t cols = shape.cols;
    if (kVec > 1 && cols <= 8 * kVec) {
        launch_lanes<T, Op, kVec, kRagged, kVec, 8>(x, y, shape, op, stream);
    } else if (kVec > 1 && cols <= 16 * kVec) {
        launch_lanes<T, Op, kVec, kRagged, kVec, 16>(x, y, shape, op, stream);
    } else if (cols <= 8 * kWarp) {
        launch_lanes<T, Op, kVec, kRagged, 8, kWarp>(x, y, shape, op, stream);
    } else if (cols <= 16 * kWarp) {
        launch_lanes<T, Op, kVec, kRagged, 16, kWarp>(x, y, shape, op, stream);
    } else if (cols <= 32 * kWarp && shape.rows > kFewRows) {
        launch_lanes<T, Op, kVec, kRagged, 32, kWarp>(x, y, shape, op, stream);
    } else if (cols <= 8 * kMaxThreads && shape.rows <= kFewRows) {
        launch_block<T, Op, kVec, kRagged, 8>(x, y, shape, op, stream);
    } else if (cols <= kShort * kMaxThreads) {
        launch_block<T, Op, kVec, kRagged, kShort>(x, y, shape, op, stream);
    } else if constexpr (kRagged) {
        return cudaErrorInvalidValue;  // launch() does not ask for it
    } else if (cols <= kLong * kMaxThreads) {
        launch_block<T, Op, kVec, kRagged, kLong>(x, y, shape, op, stream);
    } else {
        long_row_kernel<T, Op, kVec, kChunk / kVec>
            <<<static_cast<unsigned>(shape.rows), kMaxThreads, 0, stream>>>(x, y, shape, op);
    }
    return cudaGetLastError();
}

inline bool vector_aligned(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes == 0;
}

// 16-byte accesses where every row and operand starts at a multiple of 16 bytes, else scalar ones;
// scalar too for long ragged rows, whose ends would cost registers that there are not.
template <typename T, class Op>
cudaError_t launch(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    constexpr int kVec = kVectorBytes / static_cast<int>(sizeof(T));
    bool aligned =
        vector_aligned(x) && vector_aligned(y) && shape.ldx % kVec == 0 && shape.ldy % kVec == 0;
    for (int o = 0; o < Op::kOperands; ++o) aligned = aligned && vector_aligned(op.operands[o]);
    if (aligned && shape.cols % kVec == 0) {
        return launch_with<T, Op, kVec, false>(x, y, shape, op, stream);
    }
    if (aligned && shape.cols <= kShortElements * kMaxThreads) {
        return launch_with<T, Op, kVec, true>(x, y, shape, op, stream);
    }
    return launch_with<T, Op, 1, false>(x, y, shape, op, stream);
}

// Rows must fit a grid; columns must fit an int only where the row is kept in registers.
inline bool valid(const Shape& shape) {
    return shape.rows >= 0 && shape.rows <= 0x7FFFFFFF && shape.cols >= 1 &&
           shape.ldx >= shape.cols && shape.ldy >= shape.cols;
}

// Calls visit.template operator()<T>() with the C++ type of `type`.
template <typename Visit>
cudaError_t visit_type(RowType type, Visit&& visit) {
    switch (type) {
        case RowType::fp32:
            return visit.template operator()<float>();
        case RowType::bf16:
            return visit.template operator()<__nv_bfloat16>();
        case RowType::fp16:
            return visit.template operator()<__half>();
    }
    return cudaErrorInvalidValue;
}

}  // namespace etalon::kernels::row
