#pragma once

// What all of our kernels do with a sum: to and from the types of outputs, and
// the activations. A value is rounded once, at the end.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops::cuda {

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(__half x) { return __half2float(x); }
__device__ inline float to_float(__nv_bfloat16 x) {
  return __bfloat162float(x);
}

__device__ inline void round_to(float& out, float x) { out = x; }
__device__ inline void round_to(__half& out, float x) { out = __float2half(x); }
__device__ inline void round_to(__nv_bfloat16& out, float x) {
  out = __float2bfloat16(x);
}

__device__ inline float activate(Activation activation, float x) {
  switch (activation) {
  case Activation::kNone:
    break;
  case Activation::kRelu:
    return x < 0.0F ? 0.0F : x;  // NaN stays
  case Activation::kGelu:
    return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F));
  case Activation::kGeluTanh:
    return 0.5F * x *
           (1.0F + tanhf(0.79788456080286536F * (x + 0.044715F * x * x * x)));
  }
  return x;
}

}  // namespace tunedops::cuda
