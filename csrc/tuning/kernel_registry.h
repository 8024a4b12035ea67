#pragma once

// The kernels that may compete, per op. Registration is explicit (a function
// that lists them), because self-registering statics vanish from static
// libraries and hide the order, and order matters: it breaks exact ties.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/kernel.h"
#include "tuning/visibility.h"

namespace tunedops {

/// A kernel and the config to run it with; as text, what a row's third field
/// holds.
struct Solution {
  const Kernel* kernel = nullptr;
  Config config;

  bool is_default() const { return kernel->name() == kDefaultKernel; }
  std::string to_text() const {
    return std::string(kernel->name()) + config.to_text();
  }
};

/// What to say of a config that a kernel does not have for a problem: that, and
/// one that it has, since the names of parameters are hard to guess.
Status refused_config(const Kernel& kernel, const ProblemKey& problem,
                      const Status& refused);

class TUNEDOPS_PUBLIC KernelRegistry {
 public:
  /// Constructs `K` and adds it; `register_kernel<GemmCpuSkinny>(kGemmOp)`.
  template <class K, class... Args>
  void register_kernel(OpId op, Args&&... args) {
    add(op, std::make_unique<K>(std::forward<Args>(args)...));
  }

  /// Throws std::invalid_argument if the name cannot live in a file or if the
  /// op already has a kernel of that name on that device type.
  void add(OpId op, std::unique_ptr<Kernel> kernel);

  /// In the order of registration. Kernels live as long as the registry.
  std::vector<const Kernel*> kernels(OpId op, DeviceType device_type) const;

  /// The kernel that a solution names; null if none is called so.
  const Kernel* named_in(OpId op, DeviceType device_type,
                         std::string_view text) const;

  /// Nothing if no kernel of that name is registered or its config is not
  /// well-formed; whether the kernel accepts the config is its own decision.
  std::optional<Solution> parse(OpId op, DeviceType device_type,
                                std::string_view text) const;

 private:
  struct Entry {
    OpId op;
    std::unique_ptr<Kernel> kernel;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace tunedops
