#pragma once

// The output of a tile of Gemm_Sm90, piece after piece. Where the output allows
// it, a group of four warps puts a piece into shared memory and the copy engine
// takes it from there, while the group goes on; else each warp writes its part.

#include "kernels/gemm/cuda/async_copy.cuh"
#include "kernels/gemm/cuda/sm90_finish.cuh"
#include "kernels/gemm/cuda/sm90_lines.cuh"
#include "kernels/gemm/cuda/sm90_results.cuh"
#include "kernels/gemm/cuda/sm90_shared.cuh"

namespace tunedops::cuda {

template <class Tile>
class Sm90Writer {
 public:
  /// Of this thread in a piece of its group.
  static constexpr int kSums = kPiece / 2;

  __device__ Sm90Writer(const Sm90Product& product,
                        const Sm90Shared<Tile>& shared, int warp)
      : p_(product), shared_(shared), warp_(warp) {}

  /// `row` and `column`: the piece's first, in the instruction's frame.
  /// `with_sums(use)` calls `use` with a function that has this thread's sums
  /// by their numbers; it may do so at one of several places in the code, each
  /// of which has them in registers.
  template <class WithSums>
  __device__ void write(int row, int column, int batch,
                        const WithSums& with_sums) {
    const TilePlace piece = place_of(row, column, batch);
    if (piece.line >= p_.output.lines || piece.at >= p_.output.length) {
      return;  // for all warps of the group
    }
    if (p_.writes_boxes) {
      write_box_of(piece, with_sums);
      return;
    }
    const TilePlace own =
        place_of(row + in_group() * kWarpPieceRows, column, batch);
    if (own.line >= p_.output.lines || own.at >= p_.output.length) {
      return;
    }
    if (!p_.is_turned && Sm90Results<T>::can_finish(p_.output)) {
      write_lines(own, with_sums);
    } else {
      finish(own, with_sums);
    }
  }

  /// Shared memory may not be left before the copy engine has read it.
  __device__ void end() const {
    if (leads()) {
      wait_boxes_read<0>();
    }
  }

 private:
  using T = typename Tile::Element;

  __device__ int in_group() const { return warp_ % 4; }
  __device__ int group() const { return warp_ / 4; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  // Of the group: the thread that tells the copy engine.
  __device__ bool leads() const { return in_group() == 0 && lane() == 0; }

  __device__ TilePlace place_of(int row, int column, int batch) const {
    return p_.is_turned ? TilePlace{column, row, batch}
                        : TilePlace{row, column, batch};
  }

  __device__ void sync_group() const {
    constexpr int kFirst = 3;  // of two barriers; others use those before
    asm volatile("bar.sync %0, 128;" ::"r"(kFirst + group()) : "memory");
  }

  template <class WithSums>
  __device__ void write_box_of(const TilePlace& piece,
                               const WithSums& with_sums) {
    const unsigned box = shared_.output_box(group(), buffer_);
    if (p_.strip_buffers == 2) {
      buffer_ ^= 1;
    }
    if (leads()) {
      if (p_.strip_buffers == 2) {
        wait_boxes_read<1>();
      } else {
        wait_boxes_read<0>();
      }
    }
    Sm90Results<T> results(p_.output, p_.is_turned);
    TilePlace own = piece;
    if (p_.is_turned) {
      own.at += in_group() * kWarpPieceRows;
    }
    unsigned targets[4];
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      targets[time] =
          box + output_box_target(in_group(), lane(), time, p_.is_turned);
    }
    sync_group();  // the box is free
    with_sums([&](const auto& sum) { results.store(own, sum, targets); });
    publish_stores();
    sync_group();
    if (leads()) {
      write_box(&p_.output_map, {piece.at, piece.line, piece.batch}, box);
    }
  }

  template <class WithSums>
  __device__ void write_lines(const TilePlace& own,
                              const WithSums& with_sums) const {
    const unsigned strip = shared_address(shared_.strip(warp_));
    Sm90Results<T> results(p_.output, false);
    unsigned targets[4];
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      targets[time] = strip + warp_piece_target(lane(), time);
    }
    with_sums([&](const auto& sum) { results.store(own, sum, targets); });
    __syncwarp();
    using Lines = Sm90Lines<T, kWarpPieceColumns>;
    Lines(p_.output, strip, kWarpPiecePitch)
        .write(own, kWarpPieceRows, 0, Lines::kAtOnce);
    __syncwarp();
  }

  // All cases by the same code, of which there is much: so sums are brought to
  // the same registers.
  template <class WithSums>
  __device__ void finish(const TilePlace& own,
                         const WithSums& with_sums) const {
    float sums[kSums];
    with_sums([&](const auto& sum) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        sums[i] = sum(i);
      }
    });
    Sm90Finish<T>(p_.output, p_.is_turned, shared_.strip(warp_))
        .write(sums, own);
  }

  const Sm90Product& p_;
  const Sm90Shared<Tile>& shared_;
  int warp_;
  int buffer_ = 0;
};

}  // namespace tunedops::cuda
