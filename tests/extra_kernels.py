"""Kernels of another extension, wrong on purpose, so that tests see which one ran.

Compiled against the installed headers, as a user's own kernels would be. They compete in
every tuning of the process that loads them, so only fresh processes do.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SOURCE = """
#include <chrono>
#include <cstdlib>
#include <thread>

#include "kernels/gemm/gemm_kernel.h"
#include "tunedops/tuning_context.h"
#include "tuning/listed_space.h"

using namespace tunedops;

namespace {

// Fills the output with a value of its config, after a while.
class ConstantPlan final : public Plan {
 public:
  ConstantPlan(const GemmProblem& problem, float value,
               std::chrono::microseconds wait = {})
      : problem_(problem), value_(value), wait_(wait) {}

  Status run(const Arguments& arguments, Stream) const override {
    std::this_thread::sleep_for(wait_);
    auto* out = static_cast<float*>(arguments.operands[kGemmOut]);
    for (std::int64_t column = 0; column < problem_.n; ++column) {
      for (std::int64_t row = 0; row < problem_.m; ++row) {
        out[column * problem_.ldc + row] = value_;
      }
    }
    return Status::ok();
  }

 private:
  GemmProblem problem_;
  float value_;
  std::chrono::microseconds wait_;
};

void (*on_failing_run)() = nullptr;

// Fails before it writes.
class FailingPlan final : public Plan {
 public:
  Status run(const Arguments&, Stream) const override {
    if (on_failing_run != nullptr) {
      on_failing_run();
    }
    return Status::failed("it fails on purpose");
  }
};

// Leaves the output half written.
class InterruptedPlan final : public Plan {
 public:
  Status run(const Arguments& arguments, Stream) const override {
    *static_cast<float*>(arguments.operands[kGemmOut]) = 7;
    throw StatusError(Status::failed("it stops halfway on purpose"));
  }
};

class FloatGemm : public GemmKernel {
 public:
  DeviceType device_type() const override { return DeviceType::kCpu; }

 protected:
  Status do_supports(const GemmProblem& p) const override {
    return p.a_dtype == DType::kFloat32 && !p.batched
               ? Status::ok()
               : Status::unsupported("plain products of floats only");
  }
};

class ConstantGemm final : public FloatGemm {
 public:
  std::string_view name() const override { return "Gemm_Constant"; }

 protected:
  std::vector<Config> do_configs(const GemmProblem&) const override {
    return {Config().with("value", 42), Config().with("value", 43)};
  }
  std::optional<Config> do_heuristic(const GemmProblem& problem) const override {
    return do_configs(problem).front();
  }
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override {
    return std::make_unique<ConstantPlan>(
        problem, static_cast<float>(config.at("value")));
  }
};

// A kernel of one kind of plan, of batches too, that never computes anything.
template <class BrokenPlan>
class BrokenGemm : public GemmKernel {
 public:
  DeviceType device_type() const override { return DeviceType::kCpu; }

 protected:
  Status do_supports(const GemmProblem& p) const override {
    return p.a_dtype == DType::kFloat32
               ? Status::ok()
               : Status::unsupported("products of floats only");
  }
  std::unique_ptr<Plan> do_prepare(const GemmProblem&,
                                   const Config&) const override {
    return std::make_unique<BrokenPlan>();
  }
};

class FailingGemm final : public BrokenGemm<FailingPlan> {
 public:
  std::string_view name() const override { return "Gemm_Failing"; }
};

class InterruptedGemm final : public BrokenGemm<InterruptedPlan> {
 public:
  std::string_view name() const override { return "Gemm_Interrupted"; }
};

// Has 50 values, of which it proposes two. How long each waits is for a search
// to find out: there is no model of it.
class VariedGemm final : public FloatGemm {
 public:
  std::string_view name() const override { return "Gemm_Varied"; }

  // Rows have whatever won, so all of the space is accepted.
  Status check(const ProblemKey&, const Config& config) const override {
    return ListedSpace(entries()).locate(config)
               ? Status::ok()
               : Status::unsupported("is none of 50 values");
  }

 protected:
  std::vector<Config> do_configs(const GemmProblem&) const override {
    return {Config().with("value", 0), Config().with("value", 10)};
  }
  std::unique_ptr<ConfigSpace> do_space(const GemmProblem&) const override {
    return std::make_unique<ListedSpace>(entries());
  }
  std::unique_ptr<Plan> do_prepare(const GemmProblem& problem,
                                   const Config& config) const override {
    const std::int64_t value = config.at("value");
    return std::make_unique<ConstantPlan>(
        problem, static_cast<float>(value),
        std::chrono::microseconds(20 * std::abs(value - 37)));
  }

 private:
  static std::vector<ListedSpace::Entry> entries() {
    std::vector<ListedSpace::Entry> entries;
    for (int value = 0; value < 50; ++value) {
      ConfigPoint point;
      point.at[0] = static_cast<float>(value) / 4;  // neighbours are alike
      entries.push_back({Config().with("value", value), point});
    }
    return entries;
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void register_kernels() {
  KernelRegistry& kernels = getTuningContext().kernels();
  kernels.register_kernel<ConstantGemm>(kGemmOp);
  kernels.register_kernel<FailingGemm>(kGemmOp);
  kernels.register_kernel<InterruptedGemm>(kGemmOp);
  kernels.register_kernel<VariedGemm>(kGemmOp);
}

extern "C" __attribute__((visibility("default"))) void watch_failing_run(
    void (*watch)()) {
  on_failing_run = watch;
}
"""

Watch = ctypes.CFUNCTYPE(None)


def compiler() -> str | None:
    return shutil.which("c++") or shutil.which("g++")


def build(folder: Path) -> Path:
    """Compiles the kernels into a library."""
    import tunedops
    from tunedops import _C

    source, library = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(SOURCE)
    options = ["-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden"]
    command = [compiler(), *options, f"-I{tunedops.get_include()}", str(source)]
    done = subprocess.run(
        [*command, _C.__file__, "-o", str(library)], capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise RuntimeError("the kernels do not compile")
    return library


def load(library: str) -> None:
    """Registers the kernels in this process."""
    ctypes.CDLL(library).register_kernels()


def watch_failing_run(library: str, watch: Callable[[], None]) -> object:
    """Calls `watch` whenever Gemm_Failing runs; what it returns has to be kept."""
    callback = Watch(watch)
    ctypes.CDLL(library).watch_failing_run(callback)
    return callback
