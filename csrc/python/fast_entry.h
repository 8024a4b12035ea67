#pragma once

// The one place where tensors pass from Python to us without torch.ops: for
// plain tensors that nobody differentiates, traces, casts or profiles, entering
// an op through the dispatcher costs more than a small product. Everything else
// is answered with NotImplemented, and the Python side goes through torch.ops.

#include <Python.h>

namespace tunedops {

/// Adds `mm`, `addmm`, `bmm`, `baddbmm` and `linear` to the module.
bool add_fast_entries(PyObject* module);

}  // namespace tunedops
