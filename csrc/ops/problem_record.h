#pragma once

// While torch's profiler is on, each product says in the trace which problem it
// is: an event beside torch's own that has the key in its name. Shapes, which
// torch records, do not tell flags, threads, alignment or conjugated operands.
//
// What is registered with the dispatcher is registered as `Recorded`. The fast
// entries do not come by here: they are not taken while a profiler is on.

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/bind_call.h"
#include "ops/call.h"
#include "ops/dispatch_wrappers.h"

namespace tunedops {

/// What the names of these events begin with; `<device>,<op>,<params>` follows.
inline constexpr std::string_view kProblemEvent = "tunedops::problem ";

/// The event, from here to the end of its scope. There is none for what only
/// torch's original can compute, and for products that are a part of another.
class ProblemRecord {
 public:
  ProblemRecord(at::StepCallbacks&& callbacks, const CallToBind& call);

 private:
  at::RecordFunction event_;
};

/// The arguments of an op's C++ function as a call to bind. All signatures have
/// what is added first, then the two that are multiplied, the output last, and
/// beta before alpha.
class ArgumentReader {
 public:
  ArgumentReader(const char* op, Destination destination)
      : destination_(destination) {
    call_.op = op;
  }

  void read(const at::Tensor& tensor) { tensors_.push_back(tensor); }
  void read(const std::optional<at::Tensor>& bias) {
    call_.self = bias.value_or(at::Tensor());
  }
  void read(const at::Scalar& scalar) {
    (std::exchange(has_beta_, true) ? call_.alpha : call_.beta) = scalar;
  }
  void read(bool use_gelu) { call_.use_gelu = use_gelu; }
  void read(at::ScalarType out_dtype) { call_.out_dtype = out_dtype; }
  void read(std::string_view activation) { call_.activation = activation; }

  CallToBind call() {
    if (destination_ == Destination::kOut) {
      call_.out = tensors_.back();
      tensors_.pop_back();
    }
    call_.in_place = destination_ == Destination::kInPlace;
    call_.mat2 = tensors_[tensors_.size() - 1];
    call_.mat1 = tensors_[tensors_.size() - 2];
    if (tensors_.size() == 3) {
      call_.self = tensors_.front();
    }
    return call_;
  }

 private:
  Destination destination_;
  CallToBind call_;
  std::vector<at::Tensor> tensors_;
  bool has_beta_ = false;
};

/// `function`, recorded. Asking whether anybody listens is what the dispatcher
/// does for each op, and costs as little.
template <OpName op, auto function,
          Destination destination = Destination::kFresh>
struct Recorded;

template <OpName op, class Result, class... Args, Result (*function)(Args...),
          Destination destination>
struct Recorded<op, function, destination> {
  static Result call(Args... args) {
    auto callbacks = at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION);
    if (!callbacks) [[likely]] {
      return function(args...);
    }
    ArgumentReader reader(op.text, destination);
    (reader.read(args), ...);
    const ProblemRecord record(std::move(*callbacks), reader.call());
    return function(args...);
  }
};

template <OpName op, auto function>
using RecordedOut = Recorded<op, function, Destination::kOut>;
template <OpName op, auto function>
using RecordedInPlace = Recorded<op, function, Destination::kInPlace>;

}  // namespace tunedops
