#pragma once

// oneDNN's fully connected layer, which torch uses for its compiled graphs but
// not for eager fp32 products. Torch exports no oneDNN C API, so it is reached
// through the operator `mkldnn::_linear_pointwise`.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class OneDnnGemm final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_OneDnn"; }
  DeviceType device_type() const override { return DeviceType::kCpu; }
  std::string revision(const Validators& environment) const override {
    return "PT_VERSION " + environment.value("PT_VERSION");
  }

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;
};

}  // namespace tunedops
