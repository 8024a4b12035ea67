#pragma once

// Random problems of GPUs, of every size that a key can have, sound or not, and
// random numbers for what tests of kernels' configs need beside them.

#include <random>

#include "gpu_problems.h"

namespace tunedops {

class RandomGpuProblems {
 public:
  explicit RandomGpuProblems(unsigned seed) : engine_(seed) {}

  /// Of 16-bit types. Operands lie anywhere, in half of the cases so that their
  /// lines do not overlap.
  GemmProblem next() {
    const int most = chance(3) ? 62 : 16;
    GemmProblem p = gpu_problem(size(most), size(most), size(most), chance(2));
    p.a_dtype = p.b_dtype = p.out_dtype =
        chance(2) ? DType::kBFloat16 : DType::kFloat16;
    p.transpose_b = chance(2);
    p.lda = chance(2) ? size(62) : (p.transpose_a ? p.k : p.m) + size(3);
    p.ldb = chance(2) ? size(62) : (p.transpose_b ? p.n : p.k) + size(3);
    if (chance(2)) {
      p.batched = true;
      p.batch = size(chance(2) ? 10 : 40);
      p.stride_a = chance(3) ? 0 : size(62);
      p.stride_b = chance(3) ? 0 : size(62);
    }
    p.align_a = alignment();
    p.align_b = alignment();
    return p;
  }

  bool chance(unsigned one_in) { return engine_() % one_in == 0; }

  /// 0 to `count` - 1.
  int below(int count) {
    return static_cast<int>(engine_() % static_cast<unsigned>(count));
  }

  /// 1 to two to the power of `bits`, every magnitude as often.
  std::int64_t size(int bits) {
    const std::uint64_t most = std::uint64_t{1} << below(bits + 1);
    return static_cast<std::int64_t>(chance(4) ? most : 1 + engine_() % most);
  }

  /// The number, or what a hostile file has in its place.
  std::int64_t or_any(std::int64_t number) {
    return chance(6) ? size(62) * (chance(2) ? 1 : -1) : number;
  }

 private:
  std::uint8_t alignment() {
    return static_cast<std::uint8_t>(chance(2) ? 16 : 1 << below(5));
  }

  std::mt19937_64 engine_;
};

}  // namespace tunedops
