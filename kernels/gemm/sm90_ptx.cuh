// The sm_90 instructions of the GEMM that CUDA C++ has no name for: mbarrier, TMA loads, wgmma's
// ordering and its shared-memory descriptor. Addresses are in the shared window, 32 bits.
#pragma once

#include <cstdint>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
namespace etalon::kernels::sm90 {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier ------------------------------------------------------------------------------------
__device__ inline void barrier_init(std::uint32_t barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// Shows the initialised barriers to the copy engine; a block barrier shows them to other threads.
__device__ inline void barrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_arrive(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline void barrier_arrive_expecting(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// Waits until the phase of this parity has completed.
__device__ inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
    std::uint32_t done = 0;
    do {
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;\n}\n"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (done == 0);
}

// --- TMA -----------------------------------------------------------------------------------------
__device__ inline void prefetch_map(const void* tensor_map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(tensor_map) : "memory");
}

// Loads the map's box at (column, row), in elements. Elements outside the tensor arrive as zeros
// and count as bytes.
__device__ inline void load_box(std::uint32_t to, const void* tensor_map, int column, int row,
                                std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(tensor_map), "r"(column), "r"(row), "r"(barrier)
        : "memory");
}

// --- wgmma ---------------------------------------------------------------------------------------
// Orders the warpgroup's earlier register accesses before the wgmma that follow.
__device__ inline void wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void wgmma_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most `pending` of the latest committed groups are unfinished.
template <int pending>
__device__ inline void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from moving a use of the accumulators across this point.
template <int n>
__device__ inline void pin(float (&registers)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <int n>
__device__ inline void pin(std::int32_t (&registers)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

// Descriptor of a K-major tile of 128-byte rows under the 128-byte swizzle, from a 1024-byte
// boundary (PTX ISA, "Matrix descriptor format"): address and offsets in units of 16 bytes, 1024
// bytes from one group of eight rows to the next; the leading offset is not used in this layout.
// Adding 2 moves on by 32 bytes of K.
__device__ inline std::uint64_t tile_descriptor(std::uint32_t address) {
    constexpr std::uint64_t kLeading = std::uint64_t{1} << 16;
    constexpr std::uint64_t kStride = std::uint64_t{1024 >> 4} << 32;
    constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
    return ((address & 0x3FFFFU) >> 4) | kLeading | kStride | kSwizzle128;
}

}  // namespace etalon::kernels::sm90
#endif
