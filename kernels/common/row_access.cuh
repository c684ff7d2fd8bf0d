// How a thread moves its share of a row: in vectors of 16 bytes, or one element at a time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>

namespace etalon::kernels::row {

constexpr int kVectorBytes = 16;

// kCount consecutive elements, moved in one access; where rows are ragged, but for the last of a
// row. Else columns are a multiple of kCount, and a vector lies in the row or past it as a whole.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
    T at[kCount];
};

// `left`: elements from here to the row's end.
template <bool kRagged, typename T, int kCount>
__device__ inline Vector<T, kCount> load(const T* from, int left, T pad) {
    Vector<T, kCount> vector;
    if constexpr (kCount == 1) {
        vector.at[0] = left > 0 ? *from : pad;
    } else {
        static_assert(sizeof(vector) == kVectorBytes);
        if (left >= (kRagged ? kCount : 1)) {
            const uint4 bits = *reinterpret_cast<const uint4*>(from);
            memcpy(&vector, &bits, sizeof(bits));
        } else {
#pragma unroll
            for (int i = 0; i < kCount; ++i) vector.at[i] = kRagged && i < left ? from[i] : pad;
        }
    }
    return vector;
}

template <bool kRagged, typename T, int kCount>
__device__ inline void store(T* to, int left, const Vector<T, kCount>& vector) {
    if constexpr (kCount == 1) {
        if (left > 0) *to = vector.at[0];
    } else if (left >= (kRagged ? kCount : 1)) {
        uint4 bits;
        memcpy(&bits, &vector, sizeof(bits));
        *reinterpret_cast<uint4*>(to) = bits;
    } else if constexpr (kRagged) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
            if (i < left) to[i] = vector.at[i];
        }
    }
}

// A thread's share of one chunk of a row: kVectors vectors, `stride` columns apart.
template <typename T, int kVec, int kVectors, bool kRagged>
struct Share {
    static constexpr int kElements = kVec * kVectors;
    int first = 0;   // first column, from the chunk's start
    int stride = 0;  // columns from one vector to the next
    int cols = 0;    // columns of the row from the chunk's start

    __device__ int column(int vector) const { return first + vector * stride; }
    // Elements from this vector's first to the row's end; unless ragged, only whether it is in.
    __device__ int left(int vector) const {
        return kRagged ? cols - column(vector) : static_cast<int>(column(vector) < cols);
    }
    __device__ bool valid(int element) const {
        return (kRagged ? element % kVec : 0) < left(element / kVec);
    }
    __device__ void load_raw(const T* chunk, T pad, Vector<T, kVec> (&raw)[kVectors]) const {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
            raw[v] = load<kRagged, T, kVec>(chunk + column(v), left(v), pad);
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

}  // namespace etalon::kernels::row
