#pragma once

// Layouts of small operands for tests of what walks through memory: packed,
// with gaps at either level, single rows and columns, interleaved matrices.

#include <vector>

#include "tuning/op_definition.h"

namespace tunedops {

inline Operand layout(std::int64_t inner, std::int64_t outer,
                      std::int64_t outer_stride, std::int64_t batch,
                      std::int64_t batch_stride,
                      DType dtype = DType::kBFloat16) {
  return {.name = "x",
          .dtype = dtype,
          .role = Operand::Role::kInOut,
          .inner = inner,
          .outer = outer,
          .outer_stride = outer_stride,
          .batch = batch,
          .batch_stride = batch_stride};
}

inline std::vector<Operand> layouts(DType dtype = DType::kBFloat16) {
  return {
      layout(1, 1, 1, 1, 0, dtype),       layout(7, 1, 7, 1, 0, dtype),
      layout(1, 9, 1, 1, 0, dtype),       layout(1, 9, 4, 1, 0, dtype),
      layout(3, 4, 3, 1, 0, dtype),       layout(3, 4, 5, 1, 0, dtype),
      layout(3, 4, 3, 2, 12, dtype),      layout(3, 4, 3, 2, 15, dtype),
      layout(3, 4, 5, 3, 20, dtype),      layout(3, 4, 5, 3, 18, dtype),
      layout(3, 4, 5, 3, 40, dtype),      layout(3, 4, 9, 3, 3, dtype),
      layout(3, 4, 11, 2, 4, dtype),      layout(5, 1, 99, 4, 6, dtype),
      layout(33, 6, 40, 2, 300, dtype),   layout(64, 5, 64, 3, 320, dtype),
      layout(1000, 2, 1001, 1, 0, dtype),
  };
}

}  // namespace tunedops
