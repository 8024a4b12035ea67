#pragma once

// The sums of one warp where k is contiguous in the wide operand (weights of a
// linear layer). A lane reads 16 bytes of its rows and of its columns at the
// same ks. Which k comes first does not matter to a sum, so those 16 bytes are
// fed to the tensor cores as they lie, without a detour through shared memory.
//
// While one stage is multiplied the next is on its way: a few hundred bytes a
// lane are enough to keep the memory busy.

#include "kernels/gemm/cuda/skinny_load.cuh"
#include "kernels/gemm/cuda/skinny_multiply.cuh"
#include "kernels/gemm/cuda/skinny_product.h"

namespace tunedops::cuda {

/// `kWideIsVector`, `kNarrowIsVector`: the operand can be read by 16 bytes.
template <class T, bool kWideIsVector, bool kNarrowIsVector, int kRowTiles,
          int kColumnTiles>
class SkinnyRows {
 public:
  static constexpr bool kIsFloat = sizeof(T) == 4;
  static constexpr int kRows = 2 * kRowTiles;  // of a lane
  static constexpr int kWarpRows = 16 * kRowTiles;
  static constexpr int kStep = 4 * kVector<T>;  // ks of a warp's load
  // As many as registers allow with two blocks on a multiprocessor.
  static constexpr int kSteps = kColumnTiles * kRowTiles == 8 ? 1
                                : kIsFloat || kColumnTiles > 1 || kRowTiles > 1
                                    ? 2
                                    : 4;
  static constexpr int kChunk = kSteps * kStep;  // ks of a stage

  __device__ SkinnyRows(const SkinnyProduct& p, std::int64_t first_row,
                        std::int64_t batch)
      : p_(p) {
    const int group = (threadIdx.x % 32) / 4;
    const int place = threadIdx.x % 4;
    const auto* wide =
        static_cast<const T*>(p.wide) + batch * p.wide_batch_stride;
    const auto* narrow =
        static_cast<const T*>(p.narrow) + batch * p.narrow_batch_stride;
    offset_ = place * kVector<T>;
    // Rows and columns that are not there repeat the last one, and what comes
    // of them is dropped.
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const std::int64_t row = min(first_row + group + 8 * i, p.wide_count - 1);
      rows_[i] = wide + row * p.wide_ld;
    }
#pragma unroll
    for (int i = 0; i < kStagedColumns; ++i) {
      columns_[i] = narrow;
      if constexpr (!kIsFloat) {
        columns_[i] += min(group + 8 * i, p.narrow_count - 1) * p.narrow_ld;
      }
    }
  }

  /// The row of the warp's tile that sum number `i` belongs to.
  __device__ static int row_of(int i) { return (threadIdx.x % 32) / 4 + 8 * i; }

  // What SkinnyStages asks for.

  static constexpr bool kHasStages = kWideIsVector;
  using SumsOfLane = LaneSums<kRows, kColumnTiles>;
  __device__ int warps_k() const { return p_.warps_k; }

  // A lane needs all columns of fp32, too many to hold: they are read when they
  // are multiplied, from where the first one begins.
  static constexpr int kStagedColumns = kIsFloat ? 1 : kColumnTiles;

  // What a lane holds of one stage or, at the end of k, of one step.
  template <bool kIsEdge>
  struct Stage {
    static constexpr int kCount = kIsEdge ? 1 : kSteps;
    uint4 rows[kCount][kRows];
    uint4 columns[kCount][kStagedColumns];
  };

  __device__ void load(Stage<false>& stage, std::int64_t k) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        stage.rows[step][i] = load_once(rows_[i] + k + offset_ + step * kStep);
      }
    }
    if constexpr (!kIsFloat) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
#pragma unroll
        for (int i = 0; i < kColumnTiles; ++i) {
          const std::int64_t at = k + offset_ + step * kStep;
          stage.columns[step][i] =
              kNarrowIsVector ? load_shared(columns_[i] + at)
                              : gather(columns_[i] + at * p_.narrow_k_stride,
                                       p_.narrow_k_stride, kVector<T>);
        }
      }
    }
  }

  // One step that may reach behind the end, of rows that may not be aligned.
  __device__ void load_edge(Stage<true>& stage, std::int64_t k,
                            std::int64_t end) const {
    const std::int64_t at = k + offset_;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      stage.rows[0][i] = gather(rows_[i] + at, 1, end - at);
    }
    if constexpr (!kIsFloat) {
#pragma unroll
      for (int i = 0; i < kColumnTiles; ++i) {
        stage.columns[0][i] = gather(columns_[i] + at * p_.narrow_k_stride,
                                     p_.narrow_k_stride, end - at);
      }
    }
  }

  template <bool kIsEdge>
  __device__ void multiply(const Stage<kIsEdge>& stage, std::int64_t,
                           std::int64_t,
                           Sums<kRows, kColumnTiles>& sums) const {
#pragma unroll
    for (int step = 0; step < Stage<kIsEdge>::kCount; ++step) {
#pragma unroll
      for (int tile = 0; tile < kRowTiles; ++tile) {
        const uint4& upper = stage.rows[step][2 * tile];
        const uint4& lower = stage.rows[step][2 * tile + 1];
#pragma unroll
        for (int column = 0; column < kColumnTiles; ++column) {
          const uint4& x = stage.columns[step][column];
          multiply_tile<T>(sums[2 * tile][column], sums[2 * tile + 1][column],
                           upper.x, lower.x, upper.y, lower.y, x.x, x.y);
          multiply_tile<T>(sums[2 * tile][column], sums[2 * tile + 1][column],
                           upper.z, lower.z, upper.w, lower.w, x.z, x.w);
        }
      }
    }
  }

  template <bool kIsEdge>
  __device__ void multiply(const Stage<kIsEdge>& stage, std::int64_t k,
                           std::int64_t end,
                           LaneSums<kRows, kColumnTiles>& sums) const {
#pragma unroll
    for (int step = 0; step < Stage<kIsEdge>::kCount; ++step) {
      const std::int64_t at = k + offset_ + step * kStep;
      const T* from = columns_[0] + at * p_.narrow_k_stride;
      keep_in_order(from);
#pragma unroll
      for (int column = 0; column < 8 * kColumnTiles; ++column) {
        const uint4 x = !kIsEdge && kNarrowIsVector
                            ? load_shared(from)
                            : gather(from, p_.narrow_k_stride, end - at);
        from += column < p_.narrow_count - 1 ? p_.narrow_ld : 0;
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          const uint4& row = stage.rows[step][i];
          float& sum = sums[i][column / 8][column % 8];
          sum = fmaf(__uint_as_float(row.x), __uint_as_float(x.x), sum);
          sum = fmaf(__uint_as_float(row.y), __uint_as_float(x.y), sum);
          sum = fmaf(__uint_as_float(row.z), __uint_as_float(x.z), sum);
          sum = fmaf(__uint_as_float(row.w), __uint_as_float(x.w), sum);
        }
      }
    }
  }

 private:
  const SkinnyProduct& p_;
  int offset_ = 0;
  const T* rows_[kRows];
  const T* columns_[kStagedColumns];
};

}  // namespace tunedops::cuda
