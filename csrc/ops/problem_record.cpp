#include "ops/problem_record.h"

#include <exception>
#include <string>

#include "ops/context.h"
#include "tuning/thread_state.h"

namespace tunedops {
namespace {

// Empty where there is nothing to record. Arguments that are wrong are none of
// our business here: the op complains.
std::string event_name(const CallToBind& call) {
  if (ThreadState::current().originals_only) {
    return {};
  }
  try {
    GemmProblem problem;
    if (bind_call(call, problem) != nullptr) {
      return {};
    }
    const KeyText key = getTuningContext().key_text(to_key(problem));
    return std::string(kProblemEvent) + call.mat1.device().str() + ',' +
           key.op + ',' + key.params;
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

ProblemRecord::ProblemRecord(at::StepCallbacks&& callbacks,
                             const CallToBind& call)
    : event_(std::move(callbacks)) {
  if (const std::string name = event_name(call); !name.empty()) {
    event_.before(std::string_view(name));
  }
}

}  // namespace tunedops
