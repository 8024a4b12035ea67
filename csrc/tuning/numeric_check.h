#pragma once

// Is a finalist's answer right? Sampled elements are compared with a reference
// in double precision, and the whole output with what Default wrote from the
// same data. A finalist may err as the op's tolerance allows or, where Default
// itself errs more, one and a half times as much as Default does.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tuning/op_definition.h"
#include "tuning/settings.h"
#include "tuning/status.h"

namespace tunedops {

class NumericCheck {
 public:
  /// `operands` as filled, in host memory; kept only during construction.
  NumericCheck(const OpDefinition& op, const ProblemKey& problem,
               std::span<const void* const> operands, const Operand& output,
               const NumericalCheck& setting);

  /// Tells what Default wrote, before any finalist is checked.
  void set_baseline(std::vector<std::byte> output);

  /// Unsupported, with a position and both values, if the output is wrong.
  Status check(const std::vector<std::byte>& output) const;

 private:
  struct Sample {
    std::size_t index;  // of the element in the output
    Position position;
    std::complex<double> reference;
  };

  double excess(std::complex<double> value,
                std::complex<double> expected) const;
  Status compare_with_baseline(const std::vector<std::byte>& output) const;

  Operand output_;
  Tolerance tolerance_;
  std::vector<Sample> samples_;
  std::vector<std::byte> baseline_;
  double allowed_ = 1.0;  // multiples of the tolerance
};

}  // namespace tunedops
