#pragma once

// From sums to the output: the warps of a block are added up in shared memory,
// the splits of k in workspace by whichever block comes last, always in the
// same order, so that results are the same in every run. Then scale, add what
// was there and the bias, activate, round once, write.

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/last_arrival.cuh"
#include "kernels/gemm/cuda/skinny_multiply.cuh"
#include "kernels/gemm/cuda/skinny_product.h"

namespace tunedops::cuda {

template <class T, class Out>
__device__ void write_element(const SkinnyProduct& p, Out* out,
                              std::int64_t wide, int narrow, float sum) {
  Out& target = out[wide * p.out_wide_stride + narrow * p.out_narrow_stride];
  float value = p.alpha * sum;
  if (p.beta != 0.0F) {
    value += p.beta * to_float(target);
  }
  if (p.bias != nullptr) {
    const std::int64_t at = p.bias_is_along_wide ? wide : narrow;
    value += p.bias_is_float ? static_cast<const float*>(p.bias)[at]
                             : to_float(static_cast<const T*>(p.bias)[at]);
  }
  round_to(target, activate(p.activation, value));
}

#if __CUDA_ARCH__ >= 900
/// Until all blocks of the cluster are here, and see what the others wrote.
__device__ inline void wait_for_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// What another block of the cluster has where this one has `own`.
__device__ inline float load_of_block(const float* own, int block) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(own));
  unsigned there;
  float value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(address), "r"(block));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there));
  return value;
}
#endif

/// Element `index` of a tile, walked so that neighbours lie side by side in the
/// output.
struct TileElement {
  int row;
  int column;
};

__device__ inline TileElement tile_element(const SkinnyProduct& p, int index,
                                           int rows) {
  if (p.out_wide_stride == 1) {
    return {index % rows, index / rows};
  }
  return {index / p.narrow_count, index % p.narrow_count};
}

/// The block's sums of all warps along k, which lie in shared memory behind one
/// another, added up and written: to the output, or as one split of it.
template <class T>
__device__ void finish_block(const SkinnyProduct& p, float* shared, int rows,
                             int padded, std::int64_t tile,
                             std::int64_t batch) {
  const int count = rows * p.narrow_count;
  const std::int64_t first_row = tile * rows;
  const auto sum_of_warps = [&](TileElement e) {
    float sum = 0.0F;
    for (int warp = 0; warp < p.warps_k; ++warp) {
      sum += shared[(warp * rows + e.row) * padded + e.column];
    }
    return sum;
  };
  const auto write = [&](TileElement e, float sum) {
    const std::int64_t row = first_row + e.row;
    if (row >= p.wide_count) {
      return;
    }
    if (p.out_is_float) {
      write_element<T>(p,
                       static_cast<float*>(p.out) + batch * p.out_batch_stride,
                       row, e.column, sum);
    } else {
      write_element<T>(p, static_cast<T*>(p.out) + batch * p.out_batch_stride,
                       row, e.column, sum);
    }
  };
#if __CUDA_ARCH__ >= 900
  if (p.cluster > 1) {
    const int rank = blockIdx.y;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const TileElement e = tile_element(p, i, rows);
      shared[e.row * padded + e.column] = sum_of_warps(e);
    }
    wait_for_cluster();
    for (int i = rank * blockDim.x + threadIdx.x; i < count;
         i += p.cluster * blockDim.x) {
      const TileElement e = tile_element(p, i, rows);
      const float* const own = shared + e.row * padded + e.column;
      float sum = 0.0F;
#pragma unroll 8
      for (int block = 0; block < p.cluster; ++block) {
        sum += load_of_block(own, block);
      }
      write(e, sum);
    }
    wait_for_cluster();  // no block may end while others read its sums
    return;
  }
#endif
  if (p.splits == 1) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const TileElement e = tile_element(p, i, rows);
      write(e, sum_of_warps(e));
    }
    return;
  }
  const std::int64_t place = batch * p.tiles + tile;
  float* const partial = p.partial + place * p.splits * count;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    partial[static_cast<std::int64_t>(blockIdx.y) * count + i] =
        sum_of_warps(tile_element(p, i, rows));
  }
  if (!is_last_arrival(p.counters + place, p.splits, threadIdx.x == 0,
                       [] { __syncthreads(); })) {
    return;
  }
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    float sum = 0.0F;
#pragma unroll 8
    for (int split = 0; split < p.splits; ++split) {
      sum += __ldcg(partial + static_cast<std::int64_t>(split) * count + i);
    }
    write(tile_element(p, i, rows), sum);
  }
}

}  // namespace tunedops::cuda
