#pragma once

// What was chosen for a call that has just run: asked of the thread's memory
// behind the run, so that products which nobody asks about pay nothing.

#include "ops/context.h"
#include "ops/layer_shapes.h"

namespace tunedops {

struct Chosen {
  const Plan* plan = nullptr;  // null: Default
  Tier tier = Tier::kUnknown;
};

template <CallShapes (*shapes)(const Product&)>
Chosen chosen_for(const Product& product) {
  const TuningContext& context = current_context();
  ThreadState& thread = ThreadState::current();
  if (!context.is_active(thread)) {
    return {};
  }
  CallKey key;
  Call call;
  const std::size_t words = read_call<shapes>(product, key, call);
  const CallCache::Entry* const known =
      words == 0 ? nullptr : context.known(key, words, thread);
  return known == nullptr
             ? Chosen{}
             : Chosen{known->plan, TuningContext::tier_of_note(known->note)};
}

}  // namespace tunedops
