#include "python/call_slot.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/gemm/gemm_definition.h"
#include "ops/gemm.h"
#include "ops/sum_product.h"
#include "python/bindings.h"

namespace tunedops {
namespace {

void copy(const at::Tensor* tensor, NotedTensor& noted) {
  if (tensor == nullptr || !tensor->defined()) {
    noted.dtype = at::ScalarType::Undefined;
    return;
  }
  const at::IntArrayRef sizes = tensor->sizes();
  const at::IntArrayRef strides = tensor->strides();
  noted.sizes_and_strides.assign(sizes.begin(), sizes.end());
  noted.sizes_and_strides.append(strides.begin(), strides.end());
  noted.dtype = tensor->scalar_type();
  noted.storage =
      tensor->unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  noted.offset = tensor->storage_offset();
}

struct Object {
  PyObject_HEAD CallSlot* slot;
};

PyTypeObject* type = nullptr;

PyObject* make(PyTypeObject* of, PyObject*, PyObject*) {
  auto* self = reinterpret_cast<Object*>(of->tp_alloc(of, 0));
  if (self != nullptr) {
    self->slot = new CallSlot;
  }
  return reinterpret_cast<PyObject*>(self);
}

void destroy(PyObject* self) {
  delete reinterpret_cast<Object*>(self)->slot;
  PyTypeObject* const of = Py_TYPE(self);
  of->tp_free(self);
  Py_DECREF(of);
}

CallSlot& slot_of(PyObject* self) {
  return *reinterpret_cast<Object*>(self)->slot;
}

const at::Tensor* tensor_or_null(PyObject* object) {
  if (object == Py_None) {
    return nullptr;
  }
  if (!THPVariable_Check(object)) {
    throw torch::TypeError("note: expected a torch.Tensor or None");
  }
  return &THPVariable_Unpack(object);
}

// Not what only stands for other tensors (functorch's batches and wrappers),
// nor what has no sizes.
bool is_noted(const at::Tensor& tensor) {
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  constexpr c10::DispatchKeySet kStandsForOthers(
      {c10::DispatchKey::FuncTorchBatched,
       c10::DispatchKey::FuncTorchGradWrapper, c10::DispatchKey::Functionalize,
       c10::DispatchKey::Batched});
  return !impl.has_symbolic_sizes_strides() &&
         tensor.layout() == at::kStrided && impl.has_storage() &&
         !impl.key_set().has_any(kStandsForOthers);
}

// The first arguments of both that note; false for a call that is not noted.
bool read_tensors(PyObject* const* args, CallArguments& call) {
  for (std::size_t i = 0; i < CallArguments::kPlaces; ++i) {
    const at::Tensor* const tensor = tensor_or_null(args[i]);
    if (tensor != nullptr && !is_noted(*tensor)) {
      return false;
    }
    call.tensors[i] = tensor;
  }
  return true;
}

// What ran is asked for by the operands as they came; under autocast, say,
// others were multiplied, and then it is not known.
Chosen chosen_for_call(const CallArguments& call) {
  const at::Tensor& mat1 = *call.tensors[CallArguments::kMat1];
  const at::Tensor& mat2 = *call.tensors[CallArguments::kMat2];
  const at::Tensor* const term = call.tensors[CallArguments::kTerm];
  const at::Scalar beta(call.beta);
  const at::Scalar alpha(call.alpha);
  const int dims = static_cast<int>(mat1.dim());
  Product product = term == nullptr
                        ? Product{.mat1 = mat1, .mat2 = mat2, .dims = dims}
                        : sum_product(dims, *term, mat1, mat2, beta, alpha);
  product.out = call.has_out ? call.tensors[CallArguments::kOut] : nullptr;
  return chosen_for<shapes_of>(product);
}

// mat1, mat2, term or None, result, has_out, beta, alpha: behind a call that
// went through the dispatcher.
PyObject* note(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  if (count != 7) {
    throw torch::TypeError("note: expected seven arguments");
  }
  CallArguments call;
  if (!read_tensors(args, call)) {
    Py_RETURN_NONE;
  }
  call.has_out = args[4] == Py_True;
  call.beta = PyFloat_AsDouble(args[5]);
  call.alpha = PyFloat_AsDouble(args[6]);
  if (PyErr_Occurred() != nullptr) {  // complex scalars
    PyErr_Clear();
    call.beta = call.alpha = std::numeric_limits<double>::quiet_NaN();
  }
  const bool is_here = call.tensors[CallArguments::kMat1]->is_cpu() ||
                       call.tensors[CallArguments::kMat1]->is_cuda();
  slot_of(self).note(call, is_here ? chosen_for_call(call) : Chosen{});
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// The same of a layer: input, weight, bias or None, result, activation.
PyObject* note_layer(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  HANDLE_TH_ERRORS
  if (count != 5) {
    throw torch::TypeError("note_layer: expected five arguments");
  }
  CallArguments call;
  if (!read_tensors(args, call)) {
    Py_RETURN_NONE;
  }
  call.activation = parse_activation(
      py::reinterpret_borrow<py::str>(args[4]).cast<std::string>());
  const at::Tensor& input = *call.tensors[CallArguments::kMat1];
  const at::Tensor* const bias = call.tensors[CallArguments::kTerm];
  const std::optional<at::Tensor> term =
      bias == nullptr ? std::nullopt : std::make_optional(*bias);
  const Product layer = layer_product(
      input, *call.tensors[CallArguments::kMat2], term, call.activation);
  slot_of(self).note(call, input.is_cpu() || input.is_cuda()
                               ? chosen_for<layer_shapes>(layer)
                               : Chosen{});
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

using Numbers = std::vector<std::int64_t>;

// sizes, strides, dtype, an identity of its storage, the offset in it; or None
py::object to_python(const NotedTensor& noted) {
  if (noted.dtype == at::ScalarType::Undefined) {
    return py::none();
  }
  const auto& all = noted.sizes_and_strides;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return py::make_tuple(
      py::tuple(py::cast(Numbers(all.begin(), middle))),
      py::tuple(py::cast(Numbers(middle, all.end()))),
      py::reinterpret_borrow<py::object>(
          reinterpret_cast<PyObject*>(torch::getTHPDtype(noted.dtype))),
      reinterpret_cast<std::uintptr_t>(noted.storage), noted.offset);
}

// What was noted, in the order of CallSlot; None before the first call.
PyObject* facts(PyObject* self, PyObject*) {
  HANDLE_TH_ERRORS
  const CallSlot& slot = slot_of(self);
  if (slot.is_empty) {
    Py_RETURN_NONE;
  }
  py::list tensors;
  for (const NotedTensor& noted : slot.tensors) {
    tensors.append(to_python(noted));
  }
  const bool is_known = slot.chosen.tier != Tier::kUnknown;
  return py::make_tuple(
             tensors,
             py::make_tuple(c10::DeviceTypeName(slot.device.type(), true),
                            static_cast<int>(slot.device.index())),
             slot.has_out, slot.beta, slot.alpha,
             std::string(to_text(slot.activation)), slot.chosen.precision,
             is_known
                 ? py::cast(getTuningContext().solution_of(slot.chosen.plan))
                 : py::none().cast<py::object>(),
             std::string(name_of(slot.chosen.tier)))
      .release()
      .ptr();
  END_HANDLE_TH_ERRORS
}

PyCFunction as_method(PyObject* (*function)(PyObject*, PyObject* const*,
                                            Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"note", as_method(&note), METH_FASTCALL,
     "note(mat1, mat2, term, result, has_out, beta, alpha, /)"},
    {"note_layer", as_method(&note_layer), METH_FASTCALL,
     "note_layer(input, weight, bias, result, activation, /)"},
    {"facts", &facts, METH_NOARGS, "facts(): what was noted, or None"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot type_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(&make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"tunedops._C.CallSlot", sizeof(Object), 0,
                    Py_TPFLAGS_DEFAULT, type_slots};

}  // namespace

void CallSlot::note(const CallArguments& call, const Chosen& choice) {
  const at::Tensor& mat1 = *call.tensors[CallArguments::kMat1];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    copy(call.tensors[i], tensors[i]);
  }
  device = mat1.device();
  has_out = call.has_out;
  beta = call.beta;
  alpha = call.alpha;
  activation = call.activation;
  chosen = choice;
  is_empty = false;
}

bool slot_from(PyObject* object, CallSlot*& slot) {
  const bool is_slot = Py_TYPE(object) == type;
  slot = is_slot ? &slot_of(object) : nullptr;
  return is_slot || object == Py_None;
}

bool add_call_slot(PyObject* module) {
  type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type != nullptr &&
         PyModule_AddObjectRef(module, "CallSlot",
                               reinterpret_cast<PyObject*>(type)) == 0;
}

}  // namespace tunedops
