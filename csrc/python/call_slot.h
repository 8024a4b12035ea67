#pragma once

// Where an op object keeps what its last call was: shapes and types as plain
// numbers, no tensor, since a record must not keep memory alive. What it costs
// is copying some twenty words; all else is worked out when somebody looks.

#include <ATen/core/Tensor.h>
#include <Python.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <cstdint>

#include "ops/chosen.h"

namespace tunedops {

/// A tensor of a call. An absent one has no dtype.
struct NotedTensor {
  c10::SmallVector<std::int64_t, 8> sizes_and_strides;
  at::ScalarType dtype = at::ScalarType::Undefined;
  const void* storage = nullptr;  // to tell tensors apart, not to be read
  std::int64_t offset = 0;        // in it, in elements
};

/// The tensors of a call, absent ones null, and what else it is made of.
struct CallArguments {
  enum Place : std::uint8_t { kMat1, kMat2, kTerm, kOut, kPlaces };

  std::array<const at::Tensor*, kPlaces> tensors{};
  bool has_out = false;  // that the caller gave
  double beta = 1;
  double alpha = 1;
  Activation activation = Activation::kNone;
};

struct CallSlot {
  bool is_empty = true;  // no call was noted yet
  std::array<NotedTensor, CallArguments::kPlaces> tensors;
  c10::Device device{c10::DeviceType::CPU};
  bool has_out = false;
  double beta = 1;
  double alpha = 1;
  Activation activation = Activation::kNone;
  Chosen chosen;

  /// With the GIL, behind the call.
  void note(const CallArguments& call, const Chosen& choice);
};

/// The slot of an object of the module's type CallSlot, null for None; false
/// for anything else.
bool slot_from(PyObject* object, CallSlot*& slot);

/// The same as a Python type of the module; false if an error is set.
bool add_call_slot(PyObject* module);

}  // namespace tunedops
