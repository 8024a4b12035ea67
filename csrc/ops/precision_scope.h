#pragma once

// Torch's flags as a problem's key has them. A product that is tuned while a
// program runs finds them so; a key from a file was written under flags that
// may be others than today's, and torch's kernel, the yardstick, obeys today's.

#include <functional>
#include <vector>

#include "kernels/gemm/gemm_problem.h"

namespace tunedops {

/// Until it goes out of scope. They are the whole process's flags, so other
/// threads' products see them too; only those that differ are touched.
class PrecisionScope {
 public:
  explicit PrecisionScope(const GemmProblem& problem);
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;
  ~PrecisionScope();

 private:
  void set_determinism(bool value);
  void set_float32_precision(DeviceType device, std::uint16_t flags);
  void set_reduction(DType dtype, std::uint16_t flags);
  void set_fp16_accumulation(bool value);
  void set_onednn(bool enabled);

  std::vector<std::function<void()>> undo_;
};

}  // namespace tunedops
