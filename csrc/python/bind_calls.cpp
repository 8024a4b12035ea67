// Binding for Python: arguments become a call of the op layer, whose problem is
// given back as the text that results files know it by.

#include <torch/csrc/Dtype.h>
#include <torch/csrc/autograd/python_variable.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "ops/bind_call.h"
#include "ops/context.h"
#include "python/bindings.h"

namespace tunedops {
namespace {

using Key = std::pair<std::string, std::string>;

at::ScalarType dtype_of(const py::handle& object) {
  if (!THPDtype_Check(object.ptr())) {
    throw py::type_error("expected a torch.dtype");
  }
  return reinterpret_cast<THPDtype*>(object.ptr())->scalar_type;
}

at::Scalar scalar_of(const py::handle& object) {
  if (PyComplex_Check(object.ptr()) != 0) {
    return c10::complex<double>(object.cast<std::complex<double>>());
  }
  if (PyLong_Check(object.ptr()) != 0) {
    return object.cast<std::int64_t>();
  }
  return object.cast<double>();
}

// A tensor that is there, or (sizes, strides, dtype, device, alignment, whether
// it is conjugated) of one that would be.
at::Tensor operand_of(const py::handle& object) {
  if (object.is_none()) {
    return {};
  }
  if (THPVariable_Check(object.ptr())) {
    return THPVariable_Unpack(object.ptr());
  }
  const auto fields = object.cast<py::tuple>();
  const auto device = fields[3].cast<PythonDevice>();
  return described_tensor(
      fields[0].cast<std::vector<std::int64_t>>(),
      fields[1].cast<std::vector<std::int64_t>>(), dtype_of(fields[2]),
      device.first == "cpu"
          ? at::Device(at::kCPU)
          : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.second)),
      fields[4].cast<int>(), fields[5].cast<bool>());
}

// The key, or why there is none. `like` is a key whose flags and threads are
// taken in place of those of now.
std::variant<Key, std::string>
bind(const std::string& op, bool is_checked, const py::object& self,
     const py::object& mat1, const py::object& mat2, const py::object& out,
     bool in_place, const py::object& beta, const py::object& alpha,
     const std::string& activation, bool use_gelu, const py::object& out_dtype,
     const std::optional<Key>& like) {
  CallToBind call;
  call.op = op;
  call.is_checked = is_checked;
  call.self = operand_of(self);
  call.mat1 = operand_of(mat1);
  call.mat2 = operand_of(mat2);
  call.out = out.is(self) ? call.self : operand_of(out);
  call.in_place = in_place;
  call.beta = scalar_of(beta);
  call.alpha = scalar_of(alpha);
  call.activation = activation;
  call.use_gelu = use_gelu;
  if (!out_dtype.is_none()) {
    call.out_dtype = dtype_of(out_dtype);
  }
  GemmProblem problem;
  if (const char* reason = bind_call(call, problem); reason != nullptr) {
    return std::string(reason);
  }
  TuningContext& context = getTuningContext();
  if (like) {
    const auto other = context.parse_key({like->first, like->second},
                                         problem.header.device());
    if (!other) {
      throw std::invalid_argument("'" + like->first + ',' + like->second +
                                  "' is not a problem of that device");
    }
    problem.header = other->header();
  }
  KeyText key = context.key_text(to_key(problem));
  return Key(std::move(key.op), std::move(key.params));
}

}  // namespace

void bind_calls(py::module_& m) {
  m.def("bind_call", torch::wrap_pybind_function(&bind), py::arg("op"),
        py::arg("is_checked"), py::arg("self"), py::arg("mat1"),
        py::arg("mat2"), py::arg("out"), py::kw_only(),
        py::arg("in_place") = false, py::arg("beta") = 1, py::arg("alpha") = 1,
        py::arg("activation") = "none", py::arg("use_gelu") = false,
        py::arg("out_dtype") = py::none(), py::arg("like") = py::none());
}

}  // namespace tunedops
