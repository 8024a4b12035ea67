// The control plane: TuningContext for Python. No tensor passes here but to
// describe its product as a problem. Every function releases the GIL before it
// takes a lock, and torch's wrapper turns errors and warnings into Python's.

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "ops/aten_routing.h"
#include "ops/context.h"
#include "ops/gemm.h"
#include "ops/precision_scope.h"
#include "ops/product.h"
#include "python/bindings.h"
#include "python/call_slot.h"
#include "python/fast_entry.h"
#include "tuning/key_hint.h"

namespace tunedops {
namespace {

// solution, time_ms, samples, why it left the race
using PythonMeasurement = std::tuple<std::string, double, int, std::string>;

struct PythonOutcome {
  std::string solution;
  double time_ms;
  double default_ms;
  double elapsed_ms;
  std::string failure;
  std::vector<PythonMeasurement> measurements;
  bool disturbed = false;
  int searched = 0;
  double spread = 0;
  int samples = 0;
  std::string timing = {};
  double margin = 0;
  std::string date = {};
};

// A pool of as many threads as the problem says, until it goes out of scope.
class PoolSize {
 public:
  explicit PoolSize(int threads) : before_(at::get_num_threads()) {
    if (threads > 0 && threads != before_) {
      at::set_num_threads(threads);
    }
  }
  PoolSize(const PoolSize&) = delete;
  PoolSize& operator=(const PoolSize&) = delete;
  ~PoolSize() {
    if (at::get_num_threads() != before_) {
      at::set_num_threads(before_);
    }
  }

 private:
  int before_;
};

// A problem of a file, as the program met it that wrote the file.
struct AsInTheKey {
  explicit AsInTheKey(const GemmProblem& problem)
      : pool(problem.header.threads), precision(problem) {}

  PoolSize pool;
  PrecisionScope precision;
};

TuningContext::Surroundings as_in_key(const ProblemKey& problem) {
  return [problem] {
    return std::make_shared<AsInTheKey>(from_key<GemmProblem>(problem));
  };
}

PythonOutcome to_python(const TuneOutcome& outcome) {
  PythonOutcome result{outcome.solution,        outcome.time_ms,
                       outcome.default_ms,      outcome.elapsed_ms,
                       outcome.status.reason(), {}};
  result.disturbed = outcome.disturbed;
  result.searched = outcome.searched;
  result.spread = outcome.timing.spread;
  result.samples = outcome.timing.samples;
  result.timing = outcome.timing.stopwatch;
  result.margin = outcome.timing.margin;
  result.date = outcome.timing.date;
  for (const Measurement& m : outcome.measurements) {
    result.measurements.emplace_back(m.solution, m.time_ms, m.samples,
                                     m.refused);
  }
  return result;
}

PythonOutcome tune(const PythonDevice& device, const std::string& op,
                   const std::string& params, bool persist) {
  const ProblemKey problem = problem_from(device, op, params);
  return to_python(
      getTuningContext().tune(problem, Stream{}, persist, as_in_key(problem)));
}

PythonOutcome measure(const PythonDevice& device, const std::string& op,
                      const std::string& params,
                      const std::optional<std::string>& search,
                      std::optional<double> budget_ms,
                      const std::vector<std::string>& kernels) {
  const ProblemKey problem = problem_from(device, op, params);
  TuneOptions options{.budget_ms = budget_ms, .kernels = kernels};
  if (search) {
    options.search = parse_search(*search);
  }
  return to_python(getTuningContext().measure(problem, Stream{}, options,
                                              as_in_key(problem)));
}

// What a function returns while torch is as a key says; shows what `tune` sets.
py::object call_as_in_key(const PythonDevice& device, const std::string& op,
                          const std::string& params,
                          const py::function& function) {
  const AsInTheKey meanwhile(
      from_key<GemmProblem>(problem_from(device, op, params)));
  return function();
}

const at::Tensor& tensor_from(const py::handle& object) {
  if (!THPVariable_Check(object.ptr())) {
    throw py::type_error("expected a torch.Tensor");
  }
  return THPVariable_Unpack(object.ptr());
}

// The key of activation(mat1 @ mat2 + bias), as its row would have it.
std::optional<std::pair<std::string, std::string>>
key_of(const py::object& mat1, const py::object& mat2, const py::object& bias,
       const std::string& activation) {
  Product product{.mat1 = tensor_from(mat1), .mat2 = tensor_from(mat2)};
  product.dims = static_cast<int>(product.mat1.dim());
  if (!bias.is_none()) {
    product.bias = &tensor_from(bias);
  }
  product.activation = parse_activation(activation);
  if ((product.dims != 2 && product.dims != 3) || !product.is_sound()) {
    throw std::invalid_argument("key_of: the operands make no product");
  }
  GemmProblem problem;
  if (describe(product, fresh_output(product), problem) != nullptr) {
    return std::nullopt;
  }
  KeyText key = getTuningContext().key_text(to_key(problem));
  return std::make_pair(std::move(key.op), std::move(key.params));
}

// A warning from a thread that nobody above could hand it to Python for.
void warn_directly(const std::string& message) {
  if (Py_IsInitialized() == 0) {
    return;
  }
  const py::gil_scoped_acquire gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), /*stack_level=*/1) < 0) {
    // Warnings are errors, and there is no way to raise one from here.
    PyErr_WriteUnraisable(nullptr);
  }
}

void bind_switches(py::module_& m) {
  def(
      m, "setting", +[](const std::string& name) {
        return getTuningContext().setting(name);
      });
  def(
      m, "set_setting", +[](const std::string& name, const std::string& value) {
        getTuningContext().set_setting(name, value);
      });
  def(
      m, "describe_settings", +[] {
        std::vector<std::array<std::string, 5>> all;
        for (const auto& s : getTuningContext().describe_settings()) {
          all.push_back({s.name, s.value, s.standard, s.origin, s.meaning});
        }
        return all;
      });
  def(m, "install_routing", +[] { install_routing(); });
  def(m, "remove_routing", +[] { remove_routing(); });
  def(m, "routing_is_installed", +[] { return routing_is_installed(); });
}

void bind_tuning(py::module_& m) {
  py::class_<PythonOutcome>(m, "TuneOutcome")
      .def_readonly("solution", &PythonOutcome::solution)
      .def_readonly("time_ms", &PythonOutcome::time_ms)
      .def_readonly("default_ms", &PythonOutcome::default_ms)
      .def_readonly("elapsed_ms", &PythonOutcome::elapsed_ms)
      .def_readonly("failure", &PythonOutcome::failure)
      .def_readonly("measurements", &PythonOutcome::measurements)
      .def_readonly("disturbed", &PythonOutcome::disturbed)
      .def_readonly("searched", &PythonOutcome::searched)
      .def_readonly("spread", &PythonOutcome::spread)
      .def_readonly("samples", &PythonOutcome::samples)
      .def_readonly("timing", &PythonOutcome::timing)
      .def_readonly("margin", &PythonOutcome::margin)
      .def_readonly("date", &PythonOutcome::date);
  m.def("key_of", torch::wrap_pybind_function(&key_of), py::arg("mat1"),
        py::arg("mat2"), py::arg("bias") = py::none(),
        py::arg("activation") = "none");
  def(
      m, "is_problem",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return getTuningContext()
            .parse_key({op, params}, device_from(device))
            .has_value();
      });
  def(
      m, "key_hint",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return key_hint({op, params}, device_from(device).type);
      });
  def(m, "tune", &tune);
  def(m, "measure", &measure);
  m.def("call_as_in_key", torch::wrap_pybind_function(&call_as_in_key));
  def(
      m, "refusals",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return getTuningContext().refusals(problem_from(device, op, params));
      });
  def(m, "is_forked", +[] { return getTuningContext().is_forked(); });
  def(
      m, "unusable",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params, const std::string& solution) {
        return getTuningContext().unusable(problem_from(device, op, params),
                                           solution);
      });
  def(
      m, "candidates",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return getTuningContext().competitors(problem_from(device, op, params));
      });
}

}  // namespace
}  // namespace tunedops

PYBIND11_MODULE(_C, m) {
  tunedops::set_python_warning(&tunedops::warn_directly);
  tunedops::bind_switches(m);
  tunedops::bind_results(m);
  tunedops::bind_tuning(m);
  tunedops::bind_calls(m);
  tunedops::bind_facts(m);
  tunedops::bind_overlays(m);
  if (!tunedops::add_call_slot(m.ptr()) ||
      !tunedops::add_fast_entries(m.ptr())) {
    throw py::error_already_set();
  }
}
