#pragma once

// cuBLAS with its own choice of algorithm. Often what torch calls too, but with
// the workspace that NVIDIA recommends whatever torch was told, without torch's
// layers around it, and for layouts that torch copies first.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmCublas final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_Cublas"; }
  DeviceType device_type() const override { return DeviceType::kCuda; }
  /// The major version of the library: `13.1.0` is 13.
  std::string revision(const Validators& environment) const override {
    const std::string version = environment.value("CUBLAS_VERSION");
    return "cuBLAS " + version.substr(0, version.find('.'));
  }

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;
};

}  // namespace tunedops
