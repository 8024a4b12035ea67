// Binding for Python: arguments become a call of the op layer, whose problem is
// given back as the text that results files know it by.

#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/autograd/python_variable.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "kernels/gemm/gemm_definition.h"
#include "ops/bind_call.h"
#include "ops/context.h"
#include "ops/dtype_map.h"
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
    const auto other =
        context.parse_key({like->first, like->second}, problem.header.device());
    if (!other) {
      throw std::invalid_argument("'" + like->first + ',' + like->second +
                                  "' is not a problem of that device");
    }
    const auto likeness = from_key<GemmProblem>(*other);
    problem.header.threads = likeness.header.threads;
    if (likeness.a_dtype == problem.a_dtype) {  // whose flags they are
      problem.header.precision = likeness.header.precision;
    }
  }
  KeyText key = context.key_text(to_key(problem));
  return Key(std::move(key.op), std::move(key.params));
}

py::object dtype_object(DType dtype) {
  return py::reinterpret_borrow<py::object>(
      reinterpret_cast<PyObject*>(torch::getTHPDtype(scalar_type_of(dtype))));
}

// Sizes, strides, dtype, alignment, whether it is conjugated.
using PythonMatrix =
    std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>, py::object,
               int, bool>;

PythonMatrix matrix(const GemmProblem& p, std::int64_t rows,
                    std::int64_t columns, bool is_row_major, std::int64_t ld,
                    std::int64_t batch_stride, DType dtype, int alignment,
                    bool is_conjugated) {
  std::vector<std::int64_t> sizes{rows, columns};
  std::vector<std::int64_t> strides{is_row_major ? ld : 1,
                                    is_row_major ? 1 : ld};
  if (p.batched) {
    sizes.insert(sizes.begin(), p.batch);
    strides.insert(strides.begin(), batch_stride);
  }
  return {sizes, strides, dtype_object(dtype), alignment, is_conjugated};
}

// The operands of a key as tensors of a row-major program, which has them in
// the other order: mat1, mat2, out and, where there is one, the bias. Then what
// the product is scaled by, with values of the key's classes, and the epilogue.
py::dict operands_of_key(const PythonDevice& device, const std::string& op,
                         const std::string& params) {
  const auto key =
      getTuningContext().parse_key({op, params}, device_from(device));
  if (!key) {
    throw std::invalid_argument("'" + op + ',' + params +
                                "' is not a problem of device " + device.first);
  }
  const auto p = from_key<GemmProblem>(*key);
  py::dict found;
  found["mat1"] = matrix(p, p.n, p.k, !p.transpose_b, p.ldb, p.stride_b,
                         p.b_dtype, p.align_b, p.conjugate_b);
  found["mat2"] = matrix(p, p.k, p.m, !p.transpose_a, p.lda, p.stride_a,
                         p.a_dtype, p.align_a, p.conjugate_a);
  found["out"] = matrix(p, p.n, p.m, true, p.ldc, p.stride_c, p.out_dtype,
                        p.align_out, false);
  if (p.has_bias()) {
    found["bias"] = PythonMatrix{
        {p.m}, {1}, dtype_object(p.bias_dtype), p.align_bias, false};
  }
  const GemmDefinition definition;
  found["alpha"] = definition.alpha_for_tuning(*key);
  found["beta"] = definition.beta_for_tuning(*key);
  found["activation"] = std::string(to_text(p.activation));
  return found;
}

}  // namespace

void bind_calls(py::module_& m) {
  m.def("bind_call", torch::wrap_pybind_function(&bind), py::arg("op"),
        py::arg("is_checked"), py::arg("self"), py::arg("mat1"),
        py::arg("mat2"), py::arg("out"), py::kw_only(),
        py::arg("in_place") = false, py::arg("beta") = 1, py::arg("alpha") = 1,
        py::arg("activation") = "none", py::arg("use_gelu") = false,
        py::arg("out_dtype") = py::none(), py::arg("like") = py::none());
  m.def("operands_of_key", torch::wrap_pybind_function(&operands_of_key));
}

}  // namespace tunedops
