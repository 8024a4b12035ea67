#include "python/fast_entry.h"

#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/disable_torch_function.h>

#include <array>
#include <bit>
#include <optional>

#include "ops/gemm.h"
#include "ops/sum_product.h"
#include "python/call_slot.h"

namespace tunedops {
namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;

// What a dense tensor has anyway, of a device that we have kernels for, and
// what is always included; any other key in force means that somebody wants to
// see the op.
const DispatchKeySet kPlainKeys = DispatchKeySet({
#ifdef TUNEDOPS_USE_CUDA
    DispatchKey::CUDA,
    DispatchKey::AutogradCUDA,
#endif
    DispatchKey::CPU,
    DispatchKey::AutogradCPU,
    DispatchKey::ADInplaceOrView,
    DispatchKey::BackendSelect,
    DispatchKey::Conjugate,
});

// Gathers the tensors of a call and decides whether the dispatcher is needed.
class Inspection {
 public:
  bool add(PyObject* object) {
    if (!THPVariable_CheckExact(object)) {
      return false;
    }
    const at::Tensor& tensor = THPVariable_Unpack(object);
    keys_ = keys_ | tensor.key_set();
    needs_grad_ = needs_grad_ || tensor.requires_grad();
    has_tangent_ = has_tangent_ || tensor._fw_grad(/*level=*/0).defined();
    return true;
  }

  bool may_skip_dispatcher() const {
    const auto local = c10::impl::tls_local_dispatch_key_set();
    const DispatchKeySet keys = (keys_ | local.included_) - local.excluded_;
    // On the bits: the sets' own difference keeps the backends. (Autocast's key
    // is on every tensor and excluded by default.)
    const bool plain = (keys.raw_repr() & ~kPlainKeys.raw_repr()) == 0;
    const bool one_device =
        std::has_single_bit(keys.raw_repr() & c10::full_backend_mask);
    // A profiler is asked for as the dispatcher does it: at::hasCallbacks takes
    // a lock that all threads share.
    return plain && one_device && !has_tangent_ &&
           !(needs_grad_ && at::GradMode::is_enabled()) &&
           !at::impl::torch_function_mode_enabled() &&
           !at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION);
  }

 private:
  DispatchKeySet keys_;
  bool needs_grad_ = false;
  bool has_tangent_ = false;
};

PyObject* not_implemented() { Py_RETURN_NOTIMPLEMENTED; }

template <class Body>
at::Tensor run_without_gil(const Body& body) {
  const pybind11::gil_scoped_release no_gil;
  return body();
}

// Python numbers as torch reads them; nothing for other objects.
std::optional<at::Scalar> scalar_from(PyObject* object) {
  if (PyFloat_CheckExact(object)) {
    return at::Scalar(PyFloat_AS_DOUBLE(object));
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      return at::Scalar(static_cast<std::int64_t>(value));
    }
  }
  return std::nullopt;
}

// The slot behind a call's arguments, which need not be there.
struct SlotArgument {
  SlotArgument(PyObject* const* args, Py_ssize_t count, Py_ssize_t place) {
    is_one =
        count == place || (count == place + 1 && slot_from(args[place], slot));
  }

  bool is_one = false;
  CallSlot* slot = nullptr;
};

// The call has run: what it was goes into its object's slot, if there is one.
template <CallShapes (*shapes)(const Product&)>
void note(CallSlot* slot, const Product& product, const at::Tensor* term,
          const at::Tensor& out) {
  if (slot == nullptr) {
    return;
  }
  CallArguments call;
  call.tensors = {&product.mat1, &product.mat2, term, &out};
  call.beta = product.beta == nullptr ? 1 : product.beta->toDouble();
  call.alpha = product.alpha == nullptr ? 1 : product.alpha->toDouble();
  call.activation = product.activation;
  slot->note(call, chosen_for<shapes>(product));
}

// self, mat2, slot
template <int dims,
          at::Tensor (*function)(const at::Tensor&, const at::Tensor&)>
PyObject* product_entry(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  Inspection inspection;
  const SlotArgument slot(args, count, 2);
  if (!slot.is_one || !inspection.add(args[0]) || !inspection.add(args[1]) ||
      !inspection.may_skip_dispatcher()) {
    return not_implemented();
  }
  const at::Tensor& self = THPVariable_Unpack(args[0]);
  const at::Tensor& mat2 = THPVariable_Unpack(args[1]);
  at::Tensor out = run_without_gil([&] { return function(self, mat2); });
  note<shapes_of>(slot.slot, {.mat1 = self, .mat2 = mat2, .dims = dims},
                  nullptr, out);
  return THPVariable_Wrap(std::move(out));
  END_HANDLE_TH_ERRORS
}

// self, mat1, mat2, beta, alpha, slot
template <int dims, at::Tensor (*function)(const at::Tensor&, const at::Tensor&,
                                           const at::Tensor&, const at::Scalar&,
                                           const at::Scalar&)>
PyObject* sum_entry(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  Inspection inspection;
  const SlotArgument slot(args, count, 5);
  if (!slot.is_one || !inspection.add(args[0]) || !inspection.add(args[1]) ||
      !inspection.add(args[2])) {
    return not_implemented();
  }
  const auto beta = scalar_from(args[3]);
  const auto alpha = scalar_from(args[4]);
  if (!beta || !alpha || !inspection.may_skip_dispatcher()) {
    return not_implemented();
  }
  const at::Tensor& self = THPVariable_Unpack(args[0]);
  const at::Tensor& mat1 = THPVariable_Unpack(args[1]);
  const at::Tensor& mat2 = THPVariable_Unpack(args[2]);
  at::Tensor out = run_without_gil(
      [&] { return function(self, mat1, mat2, *beta, *alpha); });
  note<shapes_of>(slot.slot, sum_product(dims, self, mat1, mat2, *beta, *alpha),
                  &self, out);
  return THPVariable_Wrap(std::move(out));
  END_HANDLE_TH_ERRORS
}

// input, weight, bias or None, activation, slot
PyObject* linear_entry(PyObject*, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  Inspection inspection;
  const SlotArgument slot(args, count, 4);
  if (!slot.is_one || !inspection.add(args[0]) || !inspection.add(args[1]) ||
      (args[2] != Py_None && !inspection.add(args[2])) ||
      !PyUnicode_CheckExact(args[3]) || !inspection.may_skip_dispatcher()) {
    return not_implemented();
  }
  Py_ssize_t length = 0;
  const char* activation = PyUnicode_AsUTF8AndSize(args[3], &length);
  if (activation == nullptr) {
    return nullptr;
  }
  const std::optional<at::Tensor> bias =
      args[2] == Py_None ? std::nullopt
                         : std::make_optional(THPVariable_Unpack(args[2]));
  const at::Tensor& input = THPVariable_Unpack(args[0]);
  const at::Tensor& weight = THPVariable_Unpack(args[1]);
  const std::string_view name(activation, static_cast<std::size_t>(length));
  at::Tensor out =
      run_without_gil([&] { return linear(input, weight, bias, name); });
  note<layer_shapes>(slot.slot,
                     layer_product(input, weight, bias, parse_activation(name)),
                     bias ? &*bias : nullptr, out);
  return THPVariable_Wrap(std::move(out));
  END_HANDLE_TH_ERRORS
}

PyCFunction as_method(PyObject* (*function)(PyObject*, PyObject* const*,
                                            Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef entries[] = {
    {"mm", as_method(&product_entry<2, &mm>), METH_FASTCALL,
     "mm(self, mat2, slot, /): the product, or NotImplemented"},
    {"bmm", as_method(&product_entry<3, &bmm>), METH_FASTCALL,
     "bmm(self, mat2, slot, /): the product, or NotImplemented"},
    {"addmm", as_method(&sum_entry<2, &addmm>), METH_FASTCALL,
     "addmm(self, mat1, mat2, beta, alpha, slot, /): the sum, or "
     "NotImplemented"},
    {"baddbmm", as_method(&sum_entry<3, &baddbmm>), METH_FASTCALL,
     "baddbmm(self, batch1, batch2, beta, alpha, slot, /): the sum, or "
     "NotImplemented"},
    {"linear", as_method(&linear_entry), METH_FASTCALL,
     "linear(input, weight, bias, activation, slot, /): the layer, or "
     "NotImplemented"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool add_fast_entries(PyObject* module) {
  return PyModule_AddFunctions(module, entries) == 0;
}

}  // namespace tunedops
