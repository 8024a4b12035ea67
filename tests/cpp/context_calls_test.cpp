// What a thread remembers of calls: a decision on their problem, for as long as
// it holds, and once.

#include <gtest/gtest.h>

#include "context_fixture.h"
#include "fake_ops.h"

namespace tunedops {
namespace {

using ContextCallsTest = ContextTest;

constexpr std::size_t kWords = 4;

CallKey call_of(std::uint64_t number) {
  CallKey key;
  key.words.fill(number);
  return key;
}

TEST_F(ContextCallsTest, ACallIsKnownOnceItsProblemIsDecided) {
  const auto known = [&] {
    return context().known(call_of(1), kWords, ThreadState::current());
  };
  context().remember(call_of(1), kWords, gemm(), 3);
  EXPECT_EQ(known(), nullptr) << "nothing is decided yet";
  const Plan* plan = context().plan_for(gemm(), {});
  context().remember(call_of(1), kWords, gemm(), 3);
  ASSERT_NE(known(), nullptr);
  EXPECT_EQ(known()->plan, plan);
  EXPECT_EQ(known()->note & 0xff, 3U);
  EXPECT_EQ(TuningContext::tier_of_note(known()->note), Tier::kTunedHere);
  context().clear();
  EXPECT_EQ(known(), nullptr);
}

TEST_F(ContextCallsTest, ACallTakesOnePlaceHoweverOftenItIsRemembered) {
  context().plan_for(gemm(), {});
  context().remember(call_of(1), kWords, gemm(), 0);
  for (int i = 0; i < (1 << 16) + 10; ++i) {
    context().remember(call_of(2), kWords, gemm(), 0);
  }
  // A cache that is full forgets all.
  EXPECT_NE(context().known(call_of(1), kWords, ThreadState::current()),
            nullptr);
}

}  // namespace
}  // namespace tunedops
