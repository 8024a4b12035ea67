#pragma once

// Is a finalist's answer right? Sampled elements are compared with a reference
// in double precision, and the whole output with what Default wrote from the
// same data; where those two differ, the reference decides which is wrong. A
// finalist may err as the op's tolerance allows or, where Default itself errs
// more, one and a half times as much as Default does; but a Default that has
// nothing to do with the reference is no measure.

#include <complex>
#include <cstdint>
#include <vector>

#include "tuning/op_definition.h"
#include "tuning/settings.h"
#include "tuning/status.h"
#include "tuning/tuning_buffers.h"

namespace tunedops {

/// Judges what is in the output of copy 0 of the buffers.
class NumericCheck {
 public:
  NumericCheck(const OpDefinition& op, const ProblemKey& problem,
               TuningBuffers& buffers, const NumericalCheck& setting);

  /// Takes the output as what Default wrote, before any finalist is checked.
  Status set_baseline();

  /// Unsupported, with a position and both values, if the output is wrong.
  Status check();

 private:
  void compute_references();
  Status gather_samples(std::vector<std::complex<double>>& values);
  Status compare_with_baseline();
  std::complex<double> reference_at(std::int64_t index) const;
  bool is_right(std::complex<double> value,
                std::complex<double> reference) const;
  double needed_for(std::complex<double> value,
                    std::complex<double> reference) const;
  std::string describe(std::int64_t index, std::complex<double> got,
                       const char* what, std::complex<double> expected) const;

  const OpDefinition& op_;
  ProblemKey problem_;
  TuningBuffers& buffers_;
  // The op's or the user's; its absolute part grows with Default's errors.
  Tolerance tolerance_;
  // Of the sampled elements; computed when the first output is judged.
  std::vector<std::int64_t> indices_;
  std::vector<std::complex<double>> references_;
  bool has_baseline_ = false;
  double most_absolute_ = 0;  // that Default's errors can make of it
};

}  // namespace tunedops
