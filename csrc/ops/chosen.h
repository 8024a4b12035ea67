#pragma once

// What was chosen for a call that has just run: asked of the thread's memory
// behind the run, so that products which nobody asks about pay nothing.

#include <bit>

#include "ops/context.h"
#include "ops/layer_shapes.h"

namespace tunedops {

struct Chosen {
  const Plan* plan = nullptr;  // null: Default
  Tier tier = Tier::kUnknown;
  std::uint16_t precision = 0;  // torch's switches, for a product of this type
};

template <CallShapes (*shapes)(const Product&)>
Chosen chosen_for(const Product& product) {
  const TuningContext& context = current_context();
  ThreadState& thread = ThreadState::current();
  CallKey key;
  Call call;
  const std::size_t words = read_call<shapes>(product, key, call);
  // The first word is there whatever becomes of the others.
  Chosen chosen;
  chosen.precision = std::bit_cast<ProblemHeader>(key.words[0]).precision;
  if (words == 0 || !context.is_active(thread)) {
    return chosen;
  }
  if (const auto* const known = context.known(key, words, thread)) {
    chosen.plan = known->plan;
    chosen.tier = TuningContext::tier_of_note(known->note);
  }
  return chosen;
}

}  // namespace tunedops
