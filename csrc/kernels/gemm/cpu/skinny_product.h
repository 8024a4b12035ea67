#pragma once

// What the plan of a skinny product hands to its inner loops. The loops are
// compiled once per instruction set, so this header is the border between code
// for any CPU and code for one: plain data and function pointers, nothing
// inline that the linker could take from the wrong side.

#include "kernels/gemm/gemm_problem.h"  // for the enumerations only

#include <cstdint>

namespace tunedops::cpu {

/// An IEEE float of 16 bits, as it lies in memory.
struct Half {
  std::uint16_t bits;
};

/// Columns of the product (rows of torch's x) up to which it counts as skinny.
inline constexpr int kMaxSkinnyColumns = 32;

/// Sums that a thread has in memory: 128 KiB, which a small stack has not.
inline constexpr int kPanelFloats = 32 * 1024;

/// out[m, n] = activation(alpha * op(a) @ b + beta * out + bias[m]), with b as
/// n columns of k consecutive elements. bfloat16 is passed as std::uint16_t.
struct SkinnyProduct {
  const void* a = nullptr;
  std::int64_t lda = 0;
  const void* b = nullptr;  // in the type that the loops want
  std::int64_t ldb = 0;
  void* out = nullptr;
  std::int64_t ldc = 0;
  const void* bias = nullptr;  // null: none
  bool bias_is_float = false;  // else of a's type
  int n = 0;
  std::int64_t k = 0;
  float alpha = 1.0F;
  float beta = 0.0F;
  Activation activation = Activation::kNone;
  int block = 1;           // accumulators along m: rows, or vectors of rows
  bool prefetch = false;   // ask for memory ahead of the hardware's guess
  float* panel = nullptr;  // kPanelFloats of this thread's, for `broadcast`
};

/// Computes rows [begin, end) of out.
using SkinnyFunction = void (*)(const SkinnyProduct& product,
                                std::int64_t begin, std::int64_t end);

/// The loops of one element type and instruction set.
struct SkinnyLoops {
  SkinnyFunction dot;        // a transposed: m runs of k elements
  SkinnyFunction broadcast;  // a as it is: k runs of m elements
  bool widened_b;            // b is wanted as float
};

extern const SkinnyLoops kSkinnyFloat32Portable;
extern const SkinnyLoops kSkinnyFloat32Avx2;
extern const SkinnyLoops kSkinnyFloat32Avx512;
extern const SkinnyLoops kSkinnyBfloat16Portable;
extern const SkinnyLoops kSkinnyBfloat16Avx2;
extern const SkinnyLoops kSkinnyBfloat16Avx512;
extern const SkinnyLoops kSkinnyBfloat16Avx512Bf16;
extern const SkinnyLoops kSkinnyFloat16Portable;
extern const SkinnyLoops kSkinnyFloat16Avx2;
extern const SkinnyLoops kSkinnyFloat16Avx512;

}  // namespace tunedops::cpu
