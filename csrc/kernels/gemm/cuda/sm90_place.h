#pragma once

// Where an operand of Gemm_Sm90 or its output lies in a call, told to the copy
// engine. The driver encodes that, which takes up to a microsecond for each
// tensor, and an operand that is not aligned is eight of them: more than the
// rest of a call. So what was encoded is kept for addresses that come again.

#include <cstdint>

#include "kernels/gemm/cuda/half_layout.h"
#include "kernels/gemm/cuda/kept_by_address.h"
#include "kernels/gemm/cuda/sm90_product.h"
#include "kernels/gemm/gemm_problem.h"
#include "tuning/status.h"

namespace tunedops::cuda {

class Sm90Place {
 public:
  /// `sharers` blocks of a cluster copy a part each of what a tile has of the
  /// operand along its `side`.
  Sm90Place(const GemmProblem& problem, const HalfLines& access, int side,
            int sharers);

  /// Makes `maps` those of the operand at that address. Thread-safe.
  Status operator()(const void* data, Sm90Maps& maps) const;

 private:
  Status encode(const void* data, Sm90Maps& maps) const;

  HalfLines access_;
  DType dtype_;
  std::int64_t matrices_;
  int box_length_;  // what the copy engine brings at a time
  int box_lines_;
  mutable KeptByAddress<Sm90Maps> known_;
};

/// Of an output that the copy engine can write: see sm90_writes_boxes.
class Sm90OutputPlace {
 public:
  explicit Sm90OutputPlace(const GemmProblem& problem);

  /// As above.
  Status operator()(const void* data, CUtensorMap& map) const;

 private:
  GemmProblem problem_;
  mutable KeptByAddress<CUtensorMap> known_;
};

}  // namespace tunedops::cuda
