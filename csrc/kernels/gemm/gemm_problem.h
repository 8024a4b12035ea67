#pragma once

// One matrix product, everything that can change which kernel is right or
// fastest. The frame is BLAS's column-major one, because that is the text of
// the files: out[m, n] = activation(alpha * op(a)[m, k] @ op(b)[k, n]
// + beta * out + bias[m]). A row-major torch product y = x @ w is the same
// product with a = w and b = x, m = y's columns and n = y's rows.

#include <array>
#include <cstdint>

#include "tuning/dtype.h"
#include "tuning/problem_key.h"

namespace tunedops {

inline constexpr OpId kGemmOp{1};

enum class Activation : std::uint8_t { kNone, kRelu, kGelu, kGeluTanh };
enum class ScalarClass : std::uint8_t { kZero, kOne, kAny };

/// What a kernel multiplies with, `value` being what the caller gave.
inline float scalar_of(ScalarClass kind, double value) {
  switch (kind) {
  case ScalarClass::kZero:
    return 0.0F;
  case ScalarClass::kOne:
    return 1.0F;
  case ScalarClass::kAny:
    break;
  }
  return static_cast<float>(value);
}

/// How an operand is scaled; only kNone is used so far. The field is there so
/// that scaled products do not change the size or the text of today's keys.
enum class ScaleMode : std::uint8_t { kNone };

/// Bits of ProblemHeader::precision. The plain case, torch's defaults, is 0.
enum GemmPrecision : std::uint16_t {
  kAllowTf32 = 1,               // fp32 products may use TF32
  kFullPrecisionReduction = 2,  // reduced-precision reductions are not allowed
  kDeterministic = 4,           // torch.use_deterministic_algorithms
  kFp16Accumulation = 8,        // fp16 accumulation is allowed
  kAllowBf16 = 16,              // CPU: fp32 products may use bf16 (oneDNN)
  kOneDnnDisabled = 32,         // CPU: torch.backends.mkldnn is off
  kNoSplitK = 64,               // k may not be split between blocks
};

struct GemmProblem {
  ProblemHeader header{.op = kGemmOp};

  // The names of operands index these lists, in the order of
  // Arguments::operands.
  DType a_dtype = DType::kNone;
  DType b_dtype = DType::kNone;
  DType out_dtype = DType::kNone;
  DType bias_dtype = DType::kNone;  // kNone: no bias
  std::array<DType, 4> reserved_dtypes{};

  std::array<ScaleMode, 4> scale_modes{};
  bool transpose_a = false;  // a is stored as [k, m] columns: op(a) = a^T
  bool transpose_b = false;
  bool conjugate_a = false;
  bool conjugate_b = false;

  Activation activation = Activation::kNone;
  ScalarClass alpha = ScalarClass::kOne;
  ScalarClass beta = ScalarClass::kZero;
  bool batched = false;  // called as a batched product, be it of batch 1

  // Bytes that the base address is known to be a multiple of, at most 16.
  std::uint8_t align_a = 16;
  std::uint8_t align_b = 16;
  std::uint8_t align_out = 16;
  std::uint8_t align_bias = 16;

  std::uint16_t workspace_mib = 0;  // 0: the device's default cap
  std::array<std::uint8_t, 14> reserved{};

  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t lda = 0;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0;  // elements between matrices of a batch
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;

  bool has_bias() const { return bias_dtype != DType::kNone; }
  bool operator==(const GemmProblem&) const = default;
};

static_assert(sizeof(GemmProblem) == kProblemBytes);

/// Bytes that every element is aligned to; complex numbers to their parts.
inline std::size_t natural_alignment(DType dtype) {
  const bool is_complex =
      dtype == DType::kComplex64 || dtype == DType::kComplex128;
  return size_of(dtype) / (is_complex ? 2 : 1);
}

/// Positions in Arguments::operands.
enum GemmOperand : std::uint8_t {
  kGemmA = 0,
  kGemmB = 1,
  kGemmOut = 2,
  kGemmBias = 3,
};

}  // namespace tunedops
