#pragma once

// How a warp of Gemm_Sm80 gets what the matrix instruction takes, if lines of
// at least one operand begin at no multiples of 16 bytes. Of the other the
// tensor cores' own reads of matrices do; of raw lines threads read words or
// elements and put them together. By 8 rows (or columns) and all ks of a stage,
// in an order of ks that both operands have in common: see sm80_raw.h.

#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/sm80_copy.cuh"
#include "kernels/gemm/cuda/sm80_raw.h"

namespace tunedops::cuda {

/// Of 8 rows (or columns) a thread has four pairs of neighbouring ks of one,
/// two pairs for each multiplication.
using Sm80Pairs = unsigned[4];

/// Of 16 rows: what the instruction takes for each multiplication, the pairs of
/// the second 8 rows behind those of the first.
using Sm80Rows = unsigned[2][4];

/// Of one operand, `kIsSpread`: the order of ks, `kIsRows`: of the
/// instruction's rows. `row` is the warp's first row or column in the tile, a
/// multiple of 32, and `stage` the first stage's address. Addresses are those
/// of one stage and move from stage to stage: so there are no others beside
/// them in registers.
template <class Part, bool kIsSpread, bool kIsRows>
class Sm80Fragments {
 public:
  __device__ Sm80Fragments(const Sm80Operand&, int row, int, unsigned stage) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < Read::kReads; ++i) {
      first_[i] =
          static_cast<int>(stage) + Read::stepped(Read::first(lane, i), row);
    }
  }

  __device__ void move(int bytes) {
#pragma unroll
    for (int& first : first_) {
      first += bytes;
    }
  }

  /// Of the 8 columns that are so many further.
  __device__ void read(Sm80Pairs& pairs, int column) const {
    static_assert(!kIsRows);
    read_matrices<!Part::kIsAlongK>(pairs, stepped(0, column));
  }

  __device__ void read(Sm80Rows& rows, int row) const {
    static_assert(kIsRows);
#pragma unroll
    for (int i = 0; i < Read::kReads; ++i) {
      read_matrices<!Part::kIsAlongK>(rows[i], stepped(i, row));
    }
  }

 private:
  using Read = Sm80ReadPairs<Part, kIsSpread, kIsRows>;

  __device__ unsigned stepped(int read, int row) const {
    return static_cast<unsigned>(Read::stepped(first_[read], row));
  }

  int first_[Read::kReads];
};

/// Of raw lines 16 rows are twice 8.
template <class Fragments>
__device__ void read_twice(const Fragments& fragments, Sm80Rows& rows,
                           int row) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Sm80Pairs pairs;
    fragments.read(pairs, row + 8 * half);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      rows[i / 2][i % 2 * 2 + half] = pairs[i];
    }
  }
}

/// Lines along k: five words for four pairs.
template <int kSide, bool kIsSpread, bool kIsRows>
class Sm80Fragments<Sm80Raw<kSide, true>, kIsSpread, kIsRows> {
 public:
  static_assert(kIsSpread);

  __device__ Sm80Fragments(const Sm80Operand& operand, int row, int batch,
                           unsigned stage) {
    const int line = static_cast<int>(threadIdx.x) / 4 % 8;
    const int shift = sm80_shift(sm80_matrix(operand, batch), operand, line);
    bits_ = shift % 2 * 16;
#pragma unroll
    for (int i = 0; i < kSm80Words; ++i) {
      from_[i] = stage + Raw::place(row + line, 0) +
                 sm80_word_place<Raw>(shift, in_group(), i);
    }
  }

  __device__ void move(int bytes) {
#pragma unroll
    for (unsigned& from : from_) {
      from += bytes;
    }
  }

  __device__ void read(Sm80Pairs& pairs, int row) const {
    unsigned words[kSm80Words];
    unsigned joined[kSm80Words];
#pragma unroll
    for (int i = 0; i < kSm80Words; ++i) {
      words[i] = load_word(from_[i] + Raw::place(row, 0));
    }
#pragma unroll
    for (int i = 0; i < kSm80Words; ++i) {
      joined[i] = __funnelshift_r(words[i], words[(i + 1) % kSm80Words], bits_);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      pairs[i] = sm80_word_of(in_group(), i) == i ? joined[i] : joined[i + 1];
    }
  }

  __device__ void read(Sm80Rows& rows, int row) const {
    read_twice(*this, rows, row);
  }

 private:
  using Raw = Sm80Raw<kSide, true>;

  __device__ static int in_group() { return static_cast<int>(threadIdx.x) % 4; }

  unsigned bits_;
  unsigned from_[kSm80Words];
};

/// Lines of one k each: every element by itself.
template <int kSide, bool kIsSpread, bool kIsRows>
class Sm80Fragments<Sm80Raw<kSide, false>, kIsSpread, kIsRows> {
 public:
  __device__ Sm80Fragments(const Sm80Operand& operand, int row, int batch,
                           unsigned stage) {
    const unsigned short* const matrix = sm80_matrix(operand, batch);
    const int in_group = static_cast<int>(threadIdx.x) % 4;
    const int element = row + static_cast<int>(threadIdx.x) / 4 % 8;
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      const int k = sm80_k<kIsSpread>(in_group, i / 2) + i % 2;
      from_[i] = stage + k * Raw::kPitch +
                 2 * (element + sm80_shift(matrix, operand, k));
    }
  }

  __device__ void move(int bytes) {
#pragma unroll
    for (unsigned& from : from_) {
      from += bytes;
    }
  }

  __device__ void read(Sm80Pairs& pairs, int row) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned low = load_element(from(2 * i) + 2 * row);
      const unsigned high = load_element(from(2 * i + 1) + 2 * row);
      pairs[i] = low | high << 16;
    }
  }

  __device__ void read(Sm80Rows& rows, int row) const {
    read_twice(*this, rows, row);
  }

 private:
  using Raw = Sm80Raw<kSide, false>;
  // In the instruction's own order the lines of pairs are eight apart.
  static constexpr int kPlaces = kIsSpread ? 8 : 2;

  __device__ unsigned from(int i) const {
    return kIsSpread ? from_[i] : from_[i % 2] + i / 2 * 8 * Raw::kPitch;
  }

  unsigned from_[kPlaces];
};

}  // namespace tunedops::cuda
