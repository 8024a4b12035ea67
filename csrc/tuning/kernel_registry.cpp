#include "tuning/kernel_registry.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace tunedops {
namespace {

bool fits_in_a_file(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_';
         });
}

}  // namespace

void KernelRegistry::add(OpId op, std::unique_ptr<Kernel> kernel) {
  const std::string name(kernel->name());
  if (!fits_in_a_file(name)) {
    throw std::invalid_argument(
        "register_kernel: a name has 1 to 64 letters, digits or '_', got '" +
        name + "'");
  }
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.op == op &&
        entry.kernel->device_type() == kernel->device_type() &&
        entry.kernel->name() == name) {
      throw std::invalid_argument("register_kernel: '" + name +
                                  "' is registered already");
    }
  }
  entries_.push_back({op, std::move(kernel)});
}

std::vector<const Kernel*>
KernelRegistry::kernels(OpId op, DeviceType device_type) const {
  const std::lock_guard lock(mutex_);
  std::vector<const Kernel*> found;
  for (const Entry& entry : entries_) {
    if (entry.op == op && entry.kernel->device_type() == device_type) {
      found.push_back(entry.kernel.get());
    }
  }
  return found;
}

const Kernel* KernelRegistry::named_in(OpId op, DeviceType device_type,
                                       std::string_view text) const {
  // One kernel's name may begin with another's, so the longest match counts.
  const Kernel* best = nullptr;
  for (const Kernel* kernel : kernels(op, device_type)) {
    const std::string_view name = kernel->name();
    const bool matches =
        text.starts_with(name) &&
        (text.size() == name.size() || text[name.size()] == '_');
    if (matches && (best == nullptr || name.size() > best->name().size())) {
      best = kernel;
    }
  }
  return best;
}

std::optional<Solution> KernelRegistry::parse(OpId op, DeviceType device_type,
                                              std::string_view text) const {
  const Kernel* const kernel = named_in(op, device_type, text);
  if (kernel == nullptr) {
    return std::nullopt;
  }
  auto config = Config::from_text(text.substr(kernel->name().size()));
  if (!config) {
    return std::nullopt;
  }
  return Solution{kernel, *std::move(config)};
}

Status refused_config(const Kernel& kernel, const ProblemKey& problem,
                      const Status& refused) {
  const std::vector<Config> offered = kernel.configs(problem);
  if (refused.code() != Status::Code::kUnsupported || offered.empty()) {
    return refused;
  }
  return Status::unsupported(
      refused.reason() + "; one that it has for this problem is '" +
      Solution{&kernel, offered.front()}.to_text() + "'");
}

}  // namespace tunedops
