#pragma once

// What the files that bind C++ for Python share.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Exceptions.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tuning/device.h"
#include "tuning/problem_key.h"

namespace tunedops {

namespace py = pybind11;

// Its type and its index.
using PythonDevice = std::pair<std::string, int>;

inline Device device_from(const PythonDevice& device) {
  if (device.first != "cpu" && device.first != "cuda") {
    throw std::invalid_argument("device must be cpu or cuda, got '" +
                                device.first + "'");
  }
  return {.type = device.first == "cpu" ? DeviceType::kCpu : DeviceType::kCuda,
          .index = static_cast<std::int16_t>(device.second)};
}

/// Binds a function that needs no GIL. What it warns of and throws arrives as
/// Python's, an invalid argument as ValueError.
template <class Result, class... Args>
void def(py::module_& m, const char* name, Result (*function)(Args...)) {
  m.def(name, [function](Args... args) -> Result {
    HANDLE_TH_ERRORS
    const py::gil_scoped_release no_gil;
    try {
      return function(std::forward<Args>(args)...);
    } catch (const std::invalid_argument& error) {
      TORCH_CHECK_VALUE(false, error.what());
    }
    END_HANDLE_TH_ERRORS_PYBIND
  });
}

/// The problem of a key. Throws std::invalid_argument if it is none.
ProblemKey problem_from(const PythonDevice& device, const std::string& op,
                        const std::string& params);

/// Results: rows, files, and who decides.
void bind_results(py::module_& m);

/// Choices inside blocks of code.
void bind_overlays(py::module_& m);

/// Kernels, devices and processors.
void bind_facts(py::module_& m);

/// Calls that are bound to their problems and not run.
void bind_calls(py::module_& m);

}  // namespace tunedops
