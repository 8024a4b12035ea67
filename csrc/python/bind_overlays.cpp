// Overlays, and which of them governs a thread. torch hands what it keeps of a
// thread (ThreadLocalPythonObjects) to the threads on which autograd runs a
// backward pass, so that is where the overlay's number lies: a capsule that is
// none, but whose address is the number.

#include <ATen/ThreadLocalPythonObjects.h>
#include <torch/csrc/PyInterpreter.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/context.h"
#include "python/bindings.h"

namespace tunedops {
namespace {

using at::impl::ThreadLocalPythonObjects;

const std::string kPlace = "tunedops";  // short: it is hashed each time
constexpr const char* kCapsule = "tunedops.overlay";

// By any product while an overlay is in force somewhere; without the GIL, which
// reading what never changes does not need.
std::uint32_t overlay_of_thread() {
  if (!ThreadLocalPythonObjects::contains(kPlace)) {
    return 0;
  }
  const auto& object = ThreadLocalPythonObjects::get(kPlace);
  if (object == nullptr) {
    return 0;
  }
  PyObject* const capsule = object->ptr(&object->pyinterpreter());
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(
      PyCapsule_GetPointer(capsule, kCapsule)));
}

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Nothing for no overlay, and no object that stands for it. A thread that ends
// while the interpreter does leaves its object where it is: to give it back it
// would need the GIL.
std::shared_ptr<c10::SafePyObject> token_of(std::uint32_t overlay) {
  if (overlay == 0) {
    return nullptr;
  }
  PyObject* const capsule = PyCapsule_New(
      reinterpret_cast<void*>(static_cast<std::uintptr_t>(overlay)), kCapsule,
      nullptr);
  return {new c10::SafePyObject(capsule, getPyInterpreter()),
          [](c10::SafePyObject* object) {
            if (!is_finalizing()) {
              delete object;
            }
          }};
}

/// Puts this thread under an overlay; returns the one before.
std::uint32_t exchange_overlay(std::uint32_t overlay) {
  const std::uint32_t before = overlay_of_thread();
  ThreadLocalPythonObjects::set(kPlace, token_of(overlay));
  return before;
}

// device, op, params
using PythonProblem = std::tuple<PythonDevice, std::string, std::string>;

// op, params, solution
using PythonChoice = std::tuple<std::string, std::string, std::string>;

std::uint32_t add_overlay_results(const std::vector<PythonChoice>& choices,
                                  const std::vector<PythonDevice>& devices) {
  OverlayResults results;
  for (const auto& [op, params, solution] : choices) {
    results.solutions[{op, params}] = solution;
  }
  for (const PythonDevice& device : devices) {
    results.devices.insert(device_from(device));
  }
  return getTuningContext().add_overlay_results(std::move(results));
}

}  // namespace

void bind_overlays(py::module_& m) {
  m.def("exchange_overlay", &exchange_overlay);
  // Of blocks and not of threads: torch hands an overlay to other threads,
  // where no block begins or ends.
  m.def("block_begins", [] {
    getTuningContext().set_overlay_source(&overlay_of_thread);
    getTuningContext().overlay_begins();
  });
  m.def("block_ends", [] { getTuningContext().overlay_ends(); });
  m.def("current_overlay", &overlay_of_thread);
  def(
      m, "forced_overlay", +[](const std::string& solution) {
        return getTuningContext().forced_overlay(solution, overlay_of_thread());
      });
  def(
      m, "replay_overlay", +[](const std::optional<std::string>& on_miss) {
        Replay replay;
        if (on_miss) {
          replay.on_miss = parse_on_miss(*on_miss);
        }
        return getTuningContext().replay_overlay(replay, overlay_of_thread());
      });
  def(m, "is_replaying", +[] { return getTuningContext().is_replaying(); });
  def(
      m, "record_overlay",
      +[] { return getTuningContext().record_overlay(overlay_of_thread()); });
  def(
      m, "end_record_overlay", +[](std::uint32_t overlay) {
        TuningContext& context = getTuningContext();
        std::vector<PythonProblem> problems;
        for (const ProblemKey& key : context.end_record_overlay(overlay)) {
          const KeyText text = context.key_text(key);
          const Device device = key.header().device();
          problems.emplace_back(
              PythonDevice(device.type == DeviceType::kCpu ? "cpu" : "cuda",
                           device.index),
              text.op, text.params);
        }
        return problems;
      });
  def(m, "add_overlay_results", &add_overlay_results);
  def(
      m, "remove_overlay_results", +[](std::uint32_t results) {
        getTuningContext().remove_overlay_results(results);
      });
  def(
      m, "lay_overlay", +[](std::uint32_t results, std::uint32_t below) {
        return getTuningContext().lay_overlay(results, below);
      });
}

}  // namespace tunedops
