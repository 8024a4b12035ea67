#pragma once

// What happens to an accumulator on its way to memory, shared by the CPU
// kernels: scale, add what was there, add the bias, activate.

#include <cmath>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cpu {

inline float activate(Activation activation, float x) {
  switch (activation) {
  case Activation::kNone:
    return x;
  case Activation::kRelu:
    return x > 0.0F || std::isnan(x) ? x : 0.0F;
  case Activation::kGelu:
    return 0.5F * x * (1.0F + std::erf(x * 0.70710678118654752F));
  case Activation::kGeluTanh: {
    const float inner = 0.79788456080286536F * (x + 0.044715F * x * x * x);
    return 0.5F * x * (1.0F + std::tanh(inner));
  }
  }
  return x;
}

}  // namespace tunedops::cpu
