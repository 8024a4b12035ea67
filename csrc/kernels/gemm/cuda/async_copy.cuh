#pragma once

// Hopper's copies of tensor tiles (TMA) and the barriers in shared memory that
// tell when they are there: PTX under the names that it has. Copies go to the
// same place in every block of a cluster that the mask names.

#include <cuda.h>

#include <cstdint>

#include "kernels/gemm/cuda/shared_address.cuh"

namespace tunedops::cuda {

// --- Barriers ----------------------------------------------------------------

__device__ inline void init_barrier(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(arrivals)
      : "memory");
}

/// Of all that were initialized, for the copy engine and the other blocks.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and lets the phase last until so many bytes were copied.
__device__ inline void arrive_expecting(std::uint64_t* barrier,
                                        unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

/// At the barrier that another block of the cluster has in that place. Orders
/// nothing that was written, which would take as long as a whole step: for
/// those who have only read.
__device__ inline void arrive_at(std::uint64_t* barrier, unsigned block) {
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}" ::"r"(shared_address(barrier)),
               "r"(block)
               : "memory");
}

__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile(
      "mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
      : "memory");
}

/// Until the phase of that parity is complete.
__device__ inline void wait(std::uint64_t* barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra.uni end;\n"
               "bra.uni again;\n"
               "end:\n"
               "}" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

// --- Warps ------------------------------------------------------------------

/// Of this thread in its block; known to be the same in the whole warp, so that
/// what follows from it needs one register a warp. The copy engine and the
/// tensor cores take their operands from those.
__device__ inline int uniform_warp() {
  return __shfl_sync(0xFFFFFFFF, static_cast<int>(threadIdx.x) / 32, 0);
}

/// True in one thread of the warp, all of which have to ask.
__device__ inline bool is_elected() {
  unsigned elected;
  asm volatile("{\n"
               ".reg .pred p;\n"
               "elect.sync _|p, 0xFFFFFFFF;\n"
               "selp.u32 %0, 1, 0, p;\n"
               "}"
               : "=r"(elected));
  return elected != 0;
}

// --- Clusters ----------------------------------------------------------------

__device__ inline unsigned rank_in_cluster() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of the cluster; what they wrote before can be read afterwards.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// The same where nothing was written that others read, but barriers that were
/// published. It does not wait until all that is on its way is written.
__device__ inline void meet_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n"
               "barrier.cluster.wait.aligned;" ::
                   : "memory");
}

/// Where another block of the cluster has what this one has at an address.
__device__ inline unsigned address_in_cluster(unsigned address,
                                              unsigned block) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(address), "r"(block));
  return there;
}

/// 16 bytes there, to which the address is aligned.
__device__ inline float4 load_four_from_cluster(unsigned address) {
  float4 four;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(address)
               : "memory");
  return four;
}

__device__ inline void store_four_in_cluster(unsigned address, float4 four) {
  asm volatile(
      "st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w)
      : "memory");
}

// --- Copies ------------------------------------------------------------------

/// Where a box begins in a tensor, contiguous dimension first.
struct BoxOrigin {
  int inner;
  int outer;
  int batch;
};

__device__ inline void copy_box(void* to, const CUtensorMap* map, BoxOrigin at,
                                std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(at.inner), "r"(at.outer),
      "r"(at.batch)
      : "memory");
}

/// To all blocks of the cluster that have a bit in the mask.
__device__ inline void copy_box_to(std::uint16_t blocks, void* to,
                                   const CUtensorMap* map, BoxOrigin at,
                                   std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::"
      "bytes.multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(
          shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(at.inner), "r"(at.outer),
      "r"(at.batch), "h"(blocks)
      : "memory");
}

/// The other way: begins to write what is there.
__device__ inline void write_box(const CUtensorMap* map, BoxOrigin at,
                                 unsigned from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group "
               "[%0, {%2, %3, %4}], [%1];\n"
               "cp.async.bulk.commit_group;" ::"l"(map),
               "r"(from), "r"(at.inner), "r"(at.outer), "r"(at.batch)
               : "memory");
}

/// Until what this thread began to write, but for the last so many boxes, has
/// been read from shared memory.
template <int kBoxes>
__device__ inline void wait_boxes_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kBoxes) : "memory");
}

/// Orders what this thread stored in shared memory before what the tensor cores
/// or the copy engine read there once they were told.
__device__ inline void publish_stores() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Until the launches that this one depends on have ended and what they wrote
/// can be read. One that was launched to begin earlier has to wait before it
/// touches memory.
__device__ inline void wait_for_launches_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

}  // namespace tunedops::cuda
