#pragma once

// cuBLASLt with a chosen algorithm: what its heuristic proposes for a problem,
// each named by its attributes. Torch asks the heuristic at every call and
// takes the first answer; here the answers are measured.

#include <algorithm>
#include <string>

#include "kernels/gemm/cuda/cublaslt_catalogue.h"
#include "kernels/gemm/gemm_kernel.h"

namespace tunedops {

class GemmCublaslt final : public GemmKernel {
 public:
  std::string_view name() const override { return "Gemm_Cublaslt"; }
  DeviceType device_type() const override { return DeviceType::kCuda; }
  /// The major version of the library: `130100` is 13. An algorithm that a
  /// minor one took back is refused when its plan is made.
  std::string revision(const Validators& environment) const override {
    const std::string version = environment.value("CUBLASLT_VERSION");
    return "cuBLASLt " +
           version.substr(0, version.size() -
                                 std::min<std::size_t>(4, version.size()));
  }

  /// More than the heuristic proposes: whatever the library accepts.
  Status check(const ProblemKey& key, const Config& config) const override;

 protected:
  Status do_supports(const GemmProblem& problem) const override;
  std::vector<Config> do_configs(const GemmProblem& problem) const override;
  std::unique_ptr<ConfigSpace>
  do_space(const GemmProblem& problem) const override;
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override;

 private:
  mutable cuda::CublasltCatalogue catalogue_;
};

}  // namespace tunedops
