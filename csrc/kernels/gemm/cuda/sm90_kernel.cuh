#pragma once

// The kernel of Gemm_Sm90 for one element type. Three groups of four warps: two
// multiply, the third brings the operands and may write results aside. Included
// by one .cu file a type, which are compiled side by side.

#include "kernels/gemm/cuda/sm90_copy.cuh"
#include "kernels/gemm/cuda/sm90_multiply.cuh"

namespace tunedops::cuda {

// Registers of a thread, 65536 in all; a kernel begins with the same number for
// all of them.
#define TUNEDOPS_REGISTERS_OF_COPIES "56"
#define TUNEDOPS_REGISTERS_OF_SUMS "224"

inline constexpr int kSm90Threads = kSm90Multipliers + kSm90Copiers;

template <class Tile>
__global__ void __launch_bounds__(kSm90Threads, 1)
    multiply_sm90(const __grid_constant__ Sm90Product p) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ char memory[];
  const Sm90Shared<Tile> shared(memory, p);
  const int sharers = p.cluster_rows * p.cluster_columns;
  const int warp = uniform_warp();
  if (threadIdx.x == kSm90Multipliers) {
    Sm90Copier<Tile>::prepare(p);
  }
  // A stage by each warp: threads of one would do it one after the other, since
  // the instruction takes the address from a register that a warp has once.
  static_assert(kSm90MostStages <= kSm90Threads / 32);
  if (warp < p.stages && is_elected()) {
    init_barrier(shared.full(warp), Sm90Copier<Tile>::arrivals(p));
    init_barrier(shared.empty(warp),
                 static_cast<unsigned>(kSm90Warps * sharers));
    init_barrier(shared.raw_full(warp), 1);
    publish_barriers();
  }
  if (p.writes_aside && warp == kSm90Warps && is_elected()) {
    init_barrier(shared.results_full(), kSm90Warps);
    init_barrier(shared.results_empty(), kSm90AsideWarps);
    publish_barriers();
  }
  __syncwarp();
  // Splits meet later, when they have something to tell each other.
  if (sharers > 1) {
    meet_cluster();
  } else {
    __syncthreads();
  }
  if (warp >= kSm90Warps) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 " TUNEDOPS_REGISTERS_OF_COPIES
                 ";");
    const int copier = warp - kSm90Warps;
    if (p.writes_aside && copier > 0) {
      Sm90Aside<Tile>(p, shared).write_all(copier - 1);
    } else {
      Sm90Copier<Tile>(p, shared, copier).run();
    }
    if (p.cluster_splits > 1) {
      Sm90Multiplier<Tile>::ClusterSums::sync_others();
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 " TUNEDOPS_REGISTERS_OF_SUMS
                 ";");
    Sm90Multiplier<Tile>(p, shared, warp).run();
  }
  // No block may end while others copy into it. (They may still be telling it
  // that they left a stage, which they began to before they met here.)
  if (sharers > 1) {
    __syncwarp();
    meet_cluster();
  }
#endif
}

/// Calls `use` with the kernel that a launch names.
template <class Shape, class Use>
cudaError_t with_sm90_layout(const Sm90Launch& launch, Use use) {
  if (launch.a_has_k_contiguous) {
    return launch.b_has_k_contiguous
               ? use(multiply_sm90<Sm90Tile<Shape, true, true>>)
               : use(multiply_sm90<Sm90Tile<Shape, true, false>>);
  }
  return launch.b_has_k_contiguous
             ? use(multiply_sm90<Sm90Tile<Shape, false, true>>)
             : use(multiply_sm90<Sm90Tile<Shape, false, false>>);
}

template <class T, class Use>
cudaError_t with_sm90_kernel(const Sm90Launch& launch, Use use) {
  const int tile = launch.tile_rows * 1000 + launch.tile_columns;
  switch (tile) {
  case 128'064:
    return with_sm90_layout<Sm90Shape<T, 128, 64>>(launch, use);
  case 128'128:
    return with_sm90_layout<Sm90Shape<T, 128, 128>>(launch, use);
  case 128'192:
    return with_sm90_layout<Sm90Shape<T, 128, 192>>(launch, use);
  case 128'256:
    return with_sm90_layout<Sm90Shape<T, 128, 256>>(launch, use);
  case 256'128:
    return with_sm90_layout<Sm90Shape<T, 256, 128>>(launch, use);
  default:
    return cudaErrorInvalidValue;
  }
}

template <class T>
cudaError_t prepare_sm90(const Sm90Launch& launch) {
  return with_sm90_kernel<T>(launch, [&](auto* kernel) {
    return cudaFuncSetAttribute(kernel,
                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(kSm90MostSharedBytes));
  });
}

template <class T>
cudaError_t run_sm90(const Sm90Product& product, const Sm90Launch& launch) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
  config.blockDim = dim3(kSm90Threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = launch.stream;
  cudaLaunchAttribute attributes[2]{};
  config.attrs = attributes;
  if (launch.cluster > 1) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(launch.cluster), 1, 1};
  }
#if CUDART_VERSION >= 12030  // graphs cannot hold it before
  // Blocks may begin while the launch before is ending: see Sm90Copier.
  cudaLaunchAttribute& early = attributes[config.numAttrs++];
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
#endif
  return with_sm90_kernel<T>(launch, [&](auto* kernel) {
    return cudaLaunchKernelEx(&config, kernel, product);
  });
}

}  // namespace tunedops::cuda
