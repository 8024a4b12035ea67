#pragma once

// The sums of one warp where rows are contiguous in the wide operand (weights
// that are not transposed). A lane reads 16 bytes of neighbouring rows for each
// of four ks; pairs of ks are woven into the form that the tensor cores want in
// registers. Stages overlap as in skinny_rows.cuh.

#include "kernels/gemm/cuda/skinny_load.cuh"
#include "kernels/gemm/cuda/skinny_multiply.cuh"
#include "kernels/gemm/cuda/skinny_product.h"

namespace tunedops::cuda {

/// `kIsVector`: both operands can be read by 16 bytes, and the rows are a
/// multiple of what a lane reads.
template <class T, bool kIsVector, int kColumnTiles>
class SkinnyColumns {
 public:
  static constexpr bool kIsFloat = sizeof(T) == 4;
  static constexpr int kRows = kVector<T>;  // of a lane
  static constexpr int kWarpRows = 8 * kRows;
  static constexpr int kStep = 16;  // ks of a warp: 4 of a lane
  static constexpr int kSteps = kIsFloat ? 1 : 2;
  static constexpr int kChunk = kSteps * kStep;  // ks of a stage

  __device__ SkinnyColumns(const SkinnyProduct& p, std::int64_t first_row,
                           std::int64_t batch)
      : p_(p) {
    const int group = (threadIdx.x % 32) / 4;
    first_k_ = 4 * (threadIdx.x % 4);
    std::int64_t row = first_row + group * kRows;
    if constexpr (kIsVector) {
      // Lanes behind the last row repeat it, and what they sum is dropped.
      row = min(row, p.wide_count - kRows);
    }
    rows_left_ = p.wide_count - row;
    wide_ = static_cast<const T*>(p.wide) + batch * p.wide_batch_stride + row;
    const auto* narrow =
        static_cast<const T*>(p.narrow) + batch * p.narrow_batch_stride;
#pragma unroll
    for (int i = 0; i < kStagedColumns; ++i) {
      columns_[i] = narrow;
      if constexpr (!kIsFloat) {
        columns_[i] += min(group + 8 * i, p.narrow_count - 1) * p.narrow_ld;
      }
    }
  }

  __device__ static int row_of(int i) {
    return (threadIdx.x % 32) / 4 * kRows + i;
  }

  // What SkinnyStages asks for.

  static constexpr bool kHasStages = kIsVector;
  using SumsOfLane = LaneSums<kRows, kColumnTiles>;
  __device__ int warps_k() const { return p_.warps_k; }

  static constexpr int kStagedColumns = kIsFloat ? 1 : kColumnTiles;

  // What a lane holds of one stage or, at the end of k, of one step.
  template <bool kIsEdge>
  struct Stage {
    static constexpr int kCount = kIsEdge ? 1 : kSteps;
    uint4 rows[kCount][4];
    uint2 columns[kCount][kStagedColumns];
  };

  __device__ void load(Stage<false>& stage, std::int64_t k) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        stage.rows[step][i] =
            load_once(wide_ + (k + step * kStep + first_k_ + i) * p_.wide_ld);
      }
    }
    load_columns(stage, k, p_.k);
  }

  __device__ void load_edge(Stage<true>& stage, std::int64_t k,
                            std::int64_t end) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t at = k + first_k_ + i;
      stage.rows[0][i] =
          gather(wide_ + at * p_.wide_ld, 1, at < end ? rows_left_ : 0);
    }
    load_columns(stage, k, end);
  }

  template <bool kIsEdge>
  __device__ void load_columns(Stage<kIsEdge>& stage, std::int64_t k,
                               std::int64_t end) const {
    if constexpr (!kIsFloat) {
#pragma unroll
      for (int step = 0; step < Stage<kIsEdge>::kCount; ++step) {
        const std::int64_t at = k + step * kStep + first_k_;
#pragma unroll
        for (int i = 0; i < kColumnTiles; ++i) {
          if (!kIsEdge && kIsVector) {
            stage.columns[step][i] = load_shared_half(columns_[i] + at);
          } else {
            const uint4 four =
                gather(columns_[i] + at * p_.narrow_k_stride,
                       p_.narrow_k_stride, min(end - at, std::int64_t{4}));
            stage.columns[step][i] = make_uint2(four.x, four.y);
          }
        }
      }
    }
  }

  template <bool kIsEdge>
  __device__ void multiply(const Stage<kIsEdge>& stage, std::int64_t,
                           std::int64_t,
                           Sums<kRows, kColumnTiles>& sums) const {
#pragma unroll
    for (int step = 0; step < Stage<kIsEdge>::kCount; ++step) {
      const auto& ks = stage.rows[step];
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {  // of rows
        const unsigned k0 = word(ks[0], pair);
        const unsigned k1 = word(ks[1], pair);
        const unsigned k2 = word(ks[2], pair);
        const unsigned k3 = word(ks[3], pair);
        constexpr unsigned kLow = 0x5410;
        constexpr unsigned kHigh = 0x7632;
#pragma unroll
        for (int column = 0; column < kColumnTiles; ++column) {
          const uint2& x = stage.columns[step][column];
          multiply_tile<T>(
              sums[2 * pair][column], sums[2 * pair + 1][column],
              __byte_perm(k0, k1, kLow), __byte_perm(k0, k1, kHigh),
              __byte_perm(k2, k3, kLow), __byte_perm(k2, k3, kHigh), x.x, x.y);
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
      const std::int64_t at = k + step * kStep + first_k_;
      const T* from = columns_[0] + at * p_.narrow_k_stride;
      keep_in_order(from);
#pragma unroll
      for (int column = 0; column < 8 * kColumnTiles; ++column) {
        const uint4 x = !kIsEdge && kIsVector
                            ? load_shared(from)
                            : gather(from, p_.narrow_k_stride, end - at);
        from += column < p_.narrow_count - 1 ? p_.narrow_ld : 0;
#pragma unroll
        for (int row = 0; row < kRows; ++row) {
          float& sum = sums[row][column / 8][column % 8];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            sum = fmaf(__uint_as_float(word(stage.rows[step][i], row)),
                       __uint_as_float(word(x, i)), sum);
          }
        }
      }
    }
  }

  __device__ static unsigned word(const uint4& v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
  }

 private:
  const SkinnyProduct& p_;
  int first_k_ = 0;
  std::int64_t rows_left_ = 0;
  const T* wide_;
  const T* columns_[kStagedColumns];
};

}  // namespace tunedops::cuda
