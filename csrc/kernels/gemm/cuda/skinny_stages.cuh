#pragma once

// How a warp walks along k, whatever its operands look like: in stages that can
// be read by 16 bytes, two at a time, one being multiplied while the other is
// on its way; then the rest, step by step. The warps of a block along k take
// turns.

#include <cstdint>

#include "kernels/gemm/cuda/skinny_multiply.cuh"

namespace tunedops::cuda {

/// `Warp` says what a stage holds, how one is loaded, and what is done with it.
template <class Warp>
class SkinnyStages {
 public:
  /// Over the stages and steps of [begin, end) that fall to number `turn` of
  /// the block's warps along k.
  template <class Sums>
  __device__ static void add(const Warp& warp, std::int64_t begin,
                             std::int64_t end, int turn, Sums& sums) {
    if constexpr (Warp::kIsFloat) {
      typename Warp::SumsOfLane lane{};
      add_to(warp, begin, end, turn, lane);
      add_up_group(lane, sums);
    } else {
      add_to(warp, begin, end, turn, sums);
    }
  }

 private:
  using Stage = typename Warp::template Stage<false>;
  using Edge = typename Warp::template Stage<true>;

  template <class Sums>
  __device__ static void add_to(const Warp& warp, std::int64_t begin,
                                std::int64_t end, int turn, Sums& sums) {
    std::int64_t tail = begin;
    if constexpr (Warp::kHasStages) {
      const std::int64_t chunks = (end - begin) / Warp::kChunk;
      tail += chunks * Warp::kChunk;
      add_chunks(warp, begin, chunks, turn, sums);
    }
    int step = 0;
    for (std::int64_t k = tail; k < end; k += Warp::kStep, ++step) {
      if (step % warp.warps_k() == turn) {
        Edge edge;
        warp.load_edge(edge, k, end);
        warp.multiply(edge, k, end, sums);
      }
    }
  }

  template <class Sums>
  __device__ static void add_chunks(const Warp& warp, std::int64_t begin,
                                    std::int64_t chunks, int turn, Sums& sums) {
    const int stride = warp.warps_k();
    const auto k_of = [&](std::int64_t chunk) {
      return begin + chunk * Warp::kChunk;
    };
    const auto end_of = [&](std::int64_t chunk) {
      return k_of(chunk) + Warp::kChunk;
    };
    Stage even;
    Stage odd;
    std::int64_t chunk = turn;
    if (chunk < chunks) {
      warp.load(even, k_of(chunk));
    }
    for (; chunk < chunks; chunk += 2 * stride) {
      const bool has_odd = chunk + stride < chunks;
      if (has_odd) {
        warp.load(odd, k_of(chunk + stride));
      }
      warp.multiply(even, k_of(chunk), end_of(chunk), sums);
      if (chunk + 2 * stride < chunks) {
        warp.load(even, k_of(chunk + 2 * stride));
      }
      if (has_odd) {
        warp.multiply(odd, k_of(chunk + stride), end_of(chunk + stride), sums);
      }
    }
  }
};

}  // namespace tunedops::cuda
