#pragma once

// From the sums of Gemm_Sm90 to results in shared memory, where little is done
// to them: the way that nearly all tiles take. It has code of its own since
// there is so little of it, while that for all cases (sm90_finish.cuh) is
// longer than what a multiprocessor keeps at hand, and jumping through it takes
// longer than all the rest.

#include "kernels/gemm/cuda/finish_element.cuh"
#include "kernels/gemm/cuda/shared_memory.cuh"
#include "kernels/gemm/cuda/tile_output.h"
#include "kernels/gemm/cuda/tile_writer.cuh"
#include "kernels/gemm/cuda/warp_piece.h"

namespace tunedops::cuda {

/// Of one piece. `T`: of the operands and of the output.
template <class T>
class Sm90Results {
 public:
  /// Of a thread in a piece: two neighbours of two rows in each eight columns.
  static constexpr int kSums = kWarpPieceColumns / 2;

  __device__ Sm90Results(const TileOutput& output, bool is_turned)
      : p_(output), is_turned_(is_turned) {}

  /// Whether sums become results this way; has_plain_results (sm90_config.cpp)
  /// says the same of a problem.
  __device__ static bool can_finish(const TileOutput& output) {
    return !output.out_is_float && output.beta == 0.0F &&
           (output.activation == Activation::kNone ||
            output.activation == Activation::kRelu);
  }

  /// `sum(i)`: one of this thread's of a warp's part of a piece, whose first is
  /// at `place`; `targets`: where each time a row of matrices goes (see
  /// warp_piece.h).
  template <class Sum>
  __device__ void store(const TilePlace& place, const Sum& sum,
                        const unsigned (&targets)[4]) const {
    // Eight at a time: no more registers are free.
#pragma unroll
    for (int time = 0; time < 4; ++time) {
      float results[kOfTime];
#pragma unroll
      for (int i = 0; i < kOfTime; ++i) {
        results[i] = p_.alpha * sum(time * kOfTime + i);
      }
      if (p_.bias != nullptr) {
        if (p_.bias_is_float) {
          add_bias(static_cast<const float*>(p_.bias), place.at, time, results);
        } else {
          add_bias(static_cast<const T*>(p_.bias), place.at, time, results);
        }
      }
      if (p_.activation == Activation::kRelu) {
#pragma unroll
        for (float& result : results) {
          result = activate(Activation::kRelu, result);
        }
      }
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = pack(results[2 * i], results[2 * i + 1]);
      }
      if (is_turned_) {
        store_matrices<true>(targets[time], words);
      } else {
        store_matrices<false>(targets[time], words);
      }
    }
  }

 private:
  // The sums of warp_matrix(time, 0 to 3), two each, follow each other.
  static constexpr int kOfTime = kSums / 4;

  // What all times need is in one or two lines of the cache. (It is not loaded
  // before, since that takes registers that are not free.)
  template <class Bias>
  __device__ void add_bias(const Bias* bias, int first, int time,
                           float (&results)[kOfTime]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto at = [&](int i) {
      return first + (is_turned_ ? i / 2 % 2 * 8 + lane / 4
                                 : time * kOfTime * 2 + i / 4 * 8 +
                                       lane % 4 * 2 + i % 2);
    };
#pragma unroll
    for (int i = 0; i < kOfTime; ++i) {
      results[i] += at(i) < p_.length ? to_float(bias[at(i)]) : 0.0F;
    }
  }

  // Two results in a word.
  __device__ static unsigned pack(float first, float second) {
    alignas(4) T both[2];
    round_to(both[0], first);
    round_to(both[1], second);
    return *reinterpret_cast<const unsigned*>(both);
  }

  const TileOutput& p_;
  bool is_turned_;
};

}  // namespace tunedops::cuda
