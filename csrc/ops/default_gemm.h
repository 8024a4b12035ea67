#pragma once

// `Default`: torch's own product, the yardstick. In a call the op layer goes to
// it directly; this class is how the tuner measures it.

#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class DefaultGemm final : public GemmKernel {
 public:
  explicit DefaultGemm(DeviceType device_type) : device_type_(device_type) {}

  std::string_view name() const override { return kDefaultKernel; }
  DeviceType device_type() const override { return device_type_; }
  std::string revision(const Validators&) const override { return {}; }

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;

 private:
  DeviceType device_type_;
};

}  // namespace tunedops
