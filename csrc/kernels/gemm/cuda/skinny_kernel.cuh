#pragma once

// The skinny kernel itself, for one element type: blocks along the wide side
// (and the batch) in x, splits of k in y. Included by one .cu file a type,
// which are compiled side by side.

#include "kernels/gemm/cuda/skinny_columns.cuh"
#include "kernels/gemm/cuda/skinny_finish.cuh"
#include "kernels/gemm/cuda/skinny_rows.cuh"
#include "kernels/gemm/cuda/skinny_stages.cuh"

namespace tunedops::cuda {

template <class T, int kColumnTiles, class Warp>
__global__ void __launch_bounds__(kMostSkinnyThreads)
    multiply_skinny(const __grid_constant__ SkinnyProduct p) {
  extern __shared__ float shared[];
  constexpr int kPadded = 8 * kColumnTiles + 1;
  const int warp = threadIdx.x / 32;
  const int along_wide = warp % p.warps_wide;
  const int along_k = warp / p.warps_wide;
  const int rows = Warp::kWarpRows * p.warps_wide;
  const std::int64_t tile = blockIdx.x % p.tiles;
  const std::int64_t batch = blockIdx.x / p.tiles;
  const std::int64_t begin = blockIdx.y * p.k_of_split;
  const std::int64_t end = min(begin + p.k_of_split, p.k);

  Sums<Warp::kRows, kColumnTiles> sums{};
  SkinnyStages<Warp>::add(
      Warp(p, tile * rows + along_wide * Warp::kWarpRows, batch), begin, end,
      along_k, sums);

  const int first_column = 2 * (threadIdx.x % 4);
#pragma unroll
  for (int i = 0; i < Warp::kRows; ++i) {
    const int row = along_wide * Warp::kWarpRows + Warp::row_of(i);
    float* const line = shared + (along_k * rows + row) * kPadded;
#pragma unroll
    for (int column = 0; column < kColumnTiles; ++column) {
      line[8 * column + first_column] = sums[i][column][0];
      line[8 * column + first_column + 1] = sums[i][column][1];
    }
  }
  __syncthreads();
  finish_block<T>(p, shared, rows, kPadded, tile, batch);
}

template <class T, int kColumnTiles, class Warp>
cudaError_t launch_warps(const SkinnyProduct& p, const SkinnyLaunch& launch) {
  const dim3 grid(static_cast<unsigned>(p.tiles * launch.batch),
                  static_cast<unsigned>(p.splits));
  const auto threads = static_cast<unsigned>(32 * p.warps_wide * p.warps_k);
  const std::size_t shared = skinny_shared_bytes(
      p.warps_k, Warp::kWarpRows * p.warps_wide, p.narrow_count);
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = launch.stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {1, static_cast<unsigned>(p.cluster), 1};
  if (p.cluster > 1) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  return cudaLaunchKernelEx(&config, multiply_skinny<T, kColumnTiles, Warp>, p);
}

template <class T, int kTiles>
cudaError_t launch_columns(const SkinnyProduct& p, const SkinnyLaunch& launch) {
  const SkinnyVariant& v = launch.variant;
  if (!v.k_is_contiguous) {
    return v.wide_is_vector && v.narrow_is_vector
               ? launch_warps<T, kTiles, SkinnyColumns<T, true, kTiles>>(p,
                                                                         launch)
               : launch_warps<T, kTiles, SkinnyColumns<T, false, kTiles>>(
                     p, launch);
  }
  if (!v.wide_is_vector) {
    using Element = SkinnyRows<T, false, false, 1, kTiles>;
    return launch_warps<T, kTiles, Element>(p, launch);
  }
  if (!v.narrow_is_vector) {
    using WideVector = SkinnyRows<T, true, false, 1, kTiles>;
    return launch_warps<T, kTiles, WideVector>(p, launch);
  }
  using OneTile = SkinnyRows<T, true, true, 1, kTiles>;
  using TwoTiles = SkinnyRows<T, true, true, 2, kTiles>;
  return launch.rows == OneTile::kWarpRows
             ? launch_warps<T, kTiles, OneTile>(p, launch)
             : launch_warps<T, kTiles, TwoTiles>(p, launch);
}

template <class T>
cudaError_t run_skinny(const SkinnyProduct& p, const SkinnyLaunch& launch) {
  switch (padded_narrow(p.narrow_count)) {
  case 8:
    return launch_columns<T, 1>(p, launch);
  case 16:
    return launch_columns<T, 2>(p, launch);
  default:
    return launch_columns<T, 4>(p, launch);
  }
}

}  // namespace tunedops::cuda
