#pragma once

// A whole context on a fake device, with matrix products and the toy op, in a
// folder of its own. Making a second context is what starting a second process
// is to a program: nothing but the files goes from one to the other.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fake_kernel.h"
#include "tuning/tuning_context.h"

namespace tunedops {

class ContextTest : public TempFolderTest {
 protected:
  using Variables = std::map<std::string, std::string>;

  ContextTest() { restart(); }
  ~ContextTest() override { ThreadState::current() = {}; }

  /// A new context with ops and Default kernels, on; `variables` without the
  /// prefix are its environment. It has no cache and no database but those that
  /// they name.
  void restart(Variables variables = {}) {
    variables.try_emplace("ENABLED", "1");
    variables_ = std::move(variables);
    warnings_.clear();
    context_ = std::make_unique<TuningContext>([this](const char* name) {
      const std::string_view prefix = "TUNEDOPS_";
      const std::string_view variable = name;
      const auto found =
          variable.starts_with(prefix)
              ? variables_.find(std::string(variable.substr(prefix.size())))
              : variables_.end();
      return found == variables_.end() ? nullptr : found->second.c_str();
    });
    context().log().set_warning_handler([this](const std::string& text) {
      const std::lock_guard lock(warnings_mutex_);
      warnings_.push_back(text);
    });
    context().register_op(std::make_unique<GemmDefinition>());
    context().register_op(std::make_unique<ScaleDefinition>());
    context().register_backend(DeviceType::kCpu,
                               std::make_unique<FakeBackend>(device_));
    standard_ = &add({.name = "Default", .ms = 1.0});
    add({.name = "Default", .ms = 1.0}, scale_op());
    if (!variables_.contains("FILENAME")) {
      context().set_filename(path("results.csv"), true);
    }
    if (!variables_.contains("UNTUNED_FILENAME")) {
      context().set_setting("UNTUNED_FILENAME", path("untuned.csv"));
    }
  }

  FakeKernel& add(Behaviour behaviour, const FakeOp& op = gemm_op()) {
    auto kernel =
        std::make_unique<FakeKernel>(device_, op, std::move(behaviour));
    FakeKernel& added = *kernel;
    context().kernels().add(op.id, std::move(kernel));
    return added;
  }

  TuningContext& context() { return *context_; }
  FakeKernel& standard() { return *standard_; }

  /// What a product takes: the text of its solution.
  std::string choice(const ProblemKey& problem) {
    return solution_of(context().plan_for(problem, {}));
  }

  static ProblemKey gemm(std::int64_t n = 8) {
    return to_key(gemm_problem(6, n, 4));
  }

  static std::string row(std::int64_t n, const std::string& solution) {
    const KeyText key = gemm_op().definition.to_text(gemm(n));
    return key.op + ',' + key.params + ',' + solution + '\n';
  }

  std::string csv() const { return path("results_cpu.csv"); }

  void write_csv(const std::string& rows) {
    write_text(csv(), kValidators + rows);
  }

  /// The rows of the file without their times.
  std::vector<std::string> rows_of_csv() const {
    std::vector<std::string> rows;
    for (const CsvRow& row : parse_results(read_text(csv())).rows) {
      rows.push_back(row.key.op + ',' + row.key.params + ',' + row.solution +
                     '\n');
    }
    return rows;
  }

  const std::vector<std::string>& warnings() const { return warnings_; }

  static constexpr const char* kValidators =
      "Validator,DEVICE,fake\nValidator,TUNEDOPS_KERNELS,1\n";

  FakeDevice device_;

 private:
  Variables variables_;
  std::mutex warnings_mutex_;
  std::vector<std::string> warnings_;
  std::unique_ptr<TuningContext> context_;
  FakeKernel* standard_ = nullptr;
};

}  // namespace tunedops
