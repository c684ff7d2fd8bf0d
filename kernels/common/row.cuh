// The frame of a row kernel: one read and one write of each row, fp32 inside.
//
// A row lies in the registers of one warp (to 1024 columns, four rows a block) or of one block (to
// 32768, or 8192 where accesses are scalar); a longer row is read twice. An operation reduces each
// thread's values to a Partial, the Partials of a row are combined once, and the values, still in
// registers, are finished with the total:
//
//   struct Op {
//       using Partial = ...;                     // what a thread knows of its part of the row
//       static constexpr int kOperands = ...;    // arrays of `cols` elements (weight, bias)
//       static constexpr float kPad = ...;       // value in place of columns past the row's end
//       const T* operands[kOperands];
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
#include <cstring>

#include "kernels/common/row_type.h"

namespace etalon::kernels::row {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kVectorBytes = 16;
constexpr int kWarpRowThreads = 128;
constexpr int kMaxThreads = 1024;

struct Shape {
    std::int64_t rows = 0, cols = 0, ldx = 0, ldy = 0;
};

// kCount consecutive elements, moved in one access. Columns are a multiple of kCount, so a vector
// lies in the row or past its end as a whole.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
    T at[kCount];
};

template <typename T, int kCount>
__device__ inline Vector<T, kCount> load(const T* from, bool inside, T pad) {
    Vector<T, kCount> vector;
    if (!inside) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) vector.at[i] = pad;
    } else if constexpr (kCount == 1) {
        vector.at[0] = *from;
    } else {
        static_assert(sizeof(vector) == kVectorBytes);
        const uint4 bits = *reinterpret_cast<const uint4*>(from);
        memcpy(&vector, &bits, sizeof(bits));
    }
    return vector;
}

template <typename T, int kCount>
__device__ inline void store(T* to, const Vector<T, kCount>& vector) {
    if constexpr (kCount == 1) {
        *to = vector.at[0];
    } else {
        static_assert(sizeof(vector) == kVectorBytes);
        uint4 bits;
        memcpy(&bits, &vector, sizeof(bits));
        *reinterpret_cast<uint4*>(to) = bits;
    }
}

// A thread's share of one chunk of a row: kVectors vectors, `stride` columns apart.
template <typename T, int kVec, int kVectors>
struct Share {
    static constexpr int kElements = kVec * kVectors;
    int first = 0;   // first column, from the chunk's start
    int stride = 0;  // columns from one vector to the next
    int cols = 0;    // columns of the row from the chunk's start

    __device__ int column(int vector) const { return first + vector * stride; }
    __device__ bool inside(int vector) const { return column(vector) < cols; }
    __device__ bool valid(int element) const { return inside(element / kVec); }
    __device__ void load_raw(const T* chunk, T pad, Vector<T, kVec> (&raw)[kVectors]) const {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
            raw[v] = load<T, kVec>(chunk + column(v), inside(v), pad);
        }
    }
    __device__ void load_values(const T* chunk, float pad, float (&values)[kElements]) const {
        Vector<T, kVec> raw[kVectors];
        load_raw(chunk, static_cast<T>(pad), raw);
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            values[i] = static_cast<float>(raw[i / kVec].at[i % kVec]);
        }
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
template <typename T, class Op, int kVec, int kVectors>
struct Operands {
    static constexpr int kArrays = Op::kOperands > 0 ? Op::kOperands : 1;
    // Registers they take; in few enough, they are fetched together with the row.
    static constexpr int kRegisters =
        Op::kOperands * kVectors * std::max(1, kVec* static_cast<int>(sizeof(T)) / 4);
    static constexpr bool kEarly = kVec > 1 && kRegisters <= 16;

    const Op& op;
    std::int64_t chunk_start;
    Vector<T, kVec> early[kEarly ? kArrays : 1][kEarly ? kVectors : 1];

    __device__ Operands(const Op& of, std::int64_t start, const Share<T, kVec, kVectors>& share)
        : op(of), chunk_start(start) {
        if constexpr (kEarly) {
#pragma unroll
            for (int o = 0; o < Op::kOperands; ++o) {
                share.load_raw(op.operands[o] + chunk_start, static_cast<T>(0.0F), early[o]);
            }
        }
    }
    __device__ Vector<T, kVec> vector(int operand, int v,
                                      const Share<T, kVec, kVectors>& share) const {
        if constexpr (kEarly) {
            return early[operand][v];
        } else {
            return load<T, kVec>(op.operands[operand] + chunk_start + share.column(v),
                                 share.inside(v), static_cast<T>(0.0F));
        }
    }
};

template <typename T, class Op, int kVec, int kVectors, class Finish>
__device__ void finish_chunk(T* chunk, const Share<T, kVec, kVectors>& share,
                             const float (&values)[kVec * kVectors],
                             const Operands<T, Op, kVec, kVectors>& operands,
                             const Finish& finish) {
    constexpr int kArrays = Operands<T, Op, kVec, kVectors>::kArrays;
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
        if (share.inside(v)) store<T, kVec>(chunk + share.column(v), out);
    }
}

// The row stays in registers, of a warp (kWarpRow) or of the block.
template <typename T, class Op, int kVec, int kVectors, bool kWarpRow>
__global__ void __launch_bounds__(kWarpRow ? kWarpRowThreads : kMaxThreads)
    row_kernel(const T* x, T* y, Shape shape, Op op) {
    const int group = kWarpRow ? kWarp : static_cast<int>(blockDim.x);
    const int lane = static_cast<int>(threadIdx.x) % group;
    const std::int64_t row =
        kWarpRow ? std::int64_t{blockIdx.x} * (kWarpRowThreads / kWarp) + threadIdx.x / kWarp
                 : std::int64_t{blockIdx.x};
    if (row >= shape.rows) return;  // whole warps only

    const Share<T, kVec, kVectors> share{lane * kVec, group * kVec, static_cast<int>(shape.cols)};
    float values[kVec * kVectors];
    share.load_values(x + row * shape.ldx, Op::kPad, values);
    const Operands<T, Op, kVec, kVectors> operands(op, 0, share);

    const auto own = op.reduce(values, [&](int element) { return share.valid(element); });
    typename Op::Partial total;
    if constexpr (kWarpRow) {
        total = combine_warp<Op>(own);
    } else {
        total = combine_block<Op>(own);
    }
    finish_chunk(y + row * shape.ldy, share, values, operands, op.finish(own, total));
}

// A row of any length, in chunks, read twice.
template <typename T, class Op, int kVec, int kVectors>
__global__ void __launch_bounds__(kMaxThreads)
    long_row_kernel(const T* x, T* y, Shape shape, Op op) {
    constexpr int kChunk = kMaxThreads * kVec * kVectors;
    const T* const from = x + std::int64_t{blockIdx.x} * shape.ldx;
    T* const to = y + std::int64_t{blockIdx.x} * shape.ldy;
    const auto share_at = [&](std::int64_t start) {
        const std::int64_t left = shape.cols - start;
        return Share<T, kVec, kVectors>{static_cast<int>(threadIdx.x) * kVec, kMaxThreads * kVec,
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
        const Operands<T, Op, kVec, kVectors> operands(op, start, share);
        const auto own = op.reduce(values, [&](int element) { return share.valid(element); });
        finish_chunk(to + start, share, values, operands, op.finish(own, total));
    }
}

template <typename T, class Op, int kVec>
cudaError_t launch_with(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    constexpr std::int64_t kRowsOfBlock = kWarpRowThreads / kWarp;
    // Elements a thread of a block: scalar accesses take an address each, hence more registers.
    constexpr int kShort = kVec > 1 ? 16 : 8;
    constexpr int kLong = kVec > 1 ? 32 : 8;
    constexpr int kChunk = kVec > 1 ? 16 : 4;
    const auto rows = static_cast<unsigned>(shape.rows);
    const auto row_blocks = static_cast<unsigned>((shape.rows + kRowsOfBlock - 1) / kRowsOfBlock);
    // Threads of a block that holds the row at `elements` a thread: whole warps.
    const auto threads_for = [&](std::int64_t elements) {
        return static_cast<unsigned>((shape.cols + elements * kWarp - 1) / (elements * kWarp) *
                                     kWarp);
    };
    if (shape.cols <= 8 * kWarp) {
        row_kernel<T, Op, kVec, 8 / kVec, true>
            <<<row_blocks, kWarpRowThreads, 0, stream>>>(x, y, shape, op);
    } else if (shape.cols <= 16 * kWarp) {
        row_kernel<T, Op, kVec, 16 / kVec, true>
            <<<row_blocks, kWarpRowThreads, 0, stream>>>(x, y, shape, op);
    } else if (shape.cols <= 32 * kWarp) {
        row_kernel<T, Op, kVec, 32 / kVec, true>
            <<<row_blocks, kWarpRowThreads, 0, stream>>>(x, y, shape, op);
    } else if (shape.cols <= kShort * kMaxThreads) {
        row_kernel<T, Op, kVec, kShort / kVec, false>
            <<<rows, threads_for(kShort), 0, stream>>>(x, y, shape, op);
    } else if (shape.cols <= kLong * kMaxThreads) {
        row_kernel<T, Op, kVec, kLong / kVec, false>
            <<<rows, threads_for(kLong), 0, stream>>>(x, y, shape, op);
    } else {
        long_row_kernel<T, Op, kVec, kChunk / kVec>
            <<<rows, kMaxThreads, 0, stream>>>(x, y, shape, op);
    }
    return cudaGetLastError();
}

inline bool vector_aligned(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes == 0;
}

// 16-byte accesses where every row and operand starts at a multiple of 16 bytes and the columns
// fill whole vectors, else scalar ones.
template <typename T, class Op>
cudaError_t launch(const T* x, T* y, const Shape& shape, const Op& op, cudaStream_t stream) {
    constexpr int kVec = kVectorBytes / static_cast<int>(sizeof(T));
    bool aligned = vector_aligned(x) && vector_aligned(y) && shape.ldx % kVec == 0 &&
                   shape.ldy % kVec == 0 && shape.cols % kVec == 0;
    for (int o = 0; o < Op::kOperands; ++o) aligned = aligned && vector_aligned(op.operands[o]);
    return aligned ? launch_with<T, Op, kVec>(x, y, shape, op, stream)
                   : launch_with<T, Op, 1>(x, y, shape, op, stream);
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
