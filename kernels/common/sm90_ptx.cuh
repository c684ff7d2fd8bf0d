// The sm_90 instructions that CUDA C++ has no name for: mbarrier, cluster, TMA,
// stmatrix, wgmma's ordering and its shared-memory descriptor. Addresses are in the shared window,
// 32 bits.
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

// --- Cluster -------------------------------------------------------------------------------------
__device__ inline std::uint32_t cluster_rank() {
    std::uint32_t rank = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// The same place in the shared memory of another block of the cluster.
__device__ inline std::uint32_t in_block(std::uint32_t address, std::uint32_t rank) {
    std::uint32_t mapped = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}

// Each thread of the cluster arrives, then waits; what was written before the arrival is seen after
// the wait.
__device__ inline void cluster_arrive() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
// Without the fence: for the end of reading, or barriers shown by barrier_init_fence().
__device__ inline void cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ inline void cluster_wait() {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// At a barrier of another block, or of this one: an address from in_block(). Not .release.cluster:
// that is a fence, some 500 cycles, and what must be done before is wgmma's reading, which has been
// waited for.
__device__ inline void barrier_arrive_in_cluster(std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ inline float4 load_in_cluster(std::uint32_t address) {
    float4 v;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(address)
                 : "memory");
    return v;
}

// Some warps of a block meet; `id` 0 is __syncthreads's.
__device__ inline void named_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// Counts as there, without waiting.
__device__ inline void named_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// --- TMA -----------------------------------------------------------------------------------------
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

// The same of a tensor of three or four dimensions.
__device__ inline void load_box(std::uint32_t to, const void* tensor_map, int c0, int c1, int c2,
                                std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(barrier)
        : "memory");
}
__device__ inline void load_box(std::uint32_t to, const void* tensor_map, int c0, int c1, int c2,
                                int c3, std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
        "l"(tensor_map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(barrier)
        : "memory");
}

// The box lands at the same place of every block in `blocks`, a bit for each rank, and counts its
// bytes at each one's barrier.
__device__ inline void load_box_multicast(std::uint32_t to, const void* tensor_map, int column,
                                          int row, std::uint32_t barrier, std::uint16_t blocks) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(tensor_map), "r"(column), "r"(row), "r"(barrier), "h"(blocks)
        : "memory");
}

// Makes ordinary stores to shared memory visible to the copy engine, before a barrier.
__device__ inline void fence_for_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Stores the map's box at (column, row); what lies outside the tensor is not written.
__device__ inline void store_box(const void* tensor_map, int column, int row, std::uint32_t from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            tensor_map),
        "r"(column), "r"(row), "r"(from)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until at most `pending` of this thread's latest stores still read shared memory.
template <int pending>
__device__ inline void wait_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

// Four 8 × 8 blocks of 16-bit elements, held as mma holds an accumulator; lane l gives the address
// of row l % 8 of block l / 8.
__device__ inline void store_matrices(std::uint32_t row, std::uint32_t a, std::uint32_t b,
                                      std::uint32_t c, std::uint32_t d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
                 "r"(a), "r"(b), "r"(c), "r"(d)
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

// Registers of each thread of the warpgroup from here on, a multiple of 8: what the producer gives
// up, the consumers take.
template <int count>
__device__ inline void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
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
