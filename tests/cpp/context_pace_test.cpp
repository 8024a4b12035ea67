// How much tuning a program may come across while it runs: time in all, and
// problems of a family. Read off a clock that only fake kernels move.

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextPaceTest : public ContextTest {
 protected:
  ContextPaceTest() { context().set_setting("RECORD_UNTUNED", "1"); }

  std::string list() const {
    return exists(path("untuned_cpu.csv")) ? read_text(path("untuned_cpu.csv"))
                                           : "";
  }
};

TEST_F(ContextPaceTest, AFamilyThatGrowsIsTunedForAFewValuesOnly) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("MAX_VARIANTS", "3");
  for (std::int64_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(choice(gemm(n)), "Gemm_Fast") << n;
  }
  const int runs = standard().runs();
  for (std::int64_t n = 4; n <= 10; ++n) {
    EXPECT_EQ(choice(gemm(n)), "Default") << n;
  }
  EXPECT_EQ(standard().runs(), runs);
  EXPECT_EQ(context().results({}).size(), 3U);
  EXPECT_NE(list().find(context().key_text(gemm(10)).params),
            std::string::npos);
  // Another family, an explicit call and a fresh start are free.
  EXPECT_EQ(choice(to_key(gemm_problem(7, 4, 4))), "Gemm_Fast");
  EXPECT_EQ(context().tune(gemm(4), {}, false).solution, "Gemm_Fast");
  context().clear();
  EXPECT_EQ(choice(gemm(5)), "Gemm_Fast");
}

TEST_F(ContextPaceTest, TuningInsideProductsEndsWithItsBudget) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("TOTAL_BUDGET_S", "1");
  std::int64_t tuned = 0;
  for (std::int64_t n = 1; n <= 100; ++n) {
    tuned += choice(to_key(gemm_problem(n, n + 1, n + 2))) == "Gemm_Fast";
  }
  EXPECT_GT(tuned, 1);
  EXPECT_LT(tuned, 20);
  // The last is cut short: a few calls of the kernels are all that comes late.
  EXPECT_GE(device_.clock.now_ms(), 1000);
  EXPECT_LT(device_.clock.now_ms(), 1005);
  // Explicit tuning goes on.
  EXPECT_EQ(context().tune(gemm(4), {}, false).solution, "Gemm_Fast");
}

// What is found in the last moments would stay in the file for ever: Default,
// only because nobody else got a chance.
TEST_F(ContextPaceTest, WhatTheEndOfTheBudgetCutsShortIsNotKept) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  const double full = context().tune(gemm(100), {}, false).elapsed_ms;
  ASSERT_LT(full, 450) << "the problem's own budget must not play a part";
  context().set_setting("TOTAL_BUDGET_S", "1");
  const auto whole = static_cast<std::int64_t>(1000 / full);
  const double begin = device_.clock.now_ms();
  for (std::int64_t n = 1; n <= whole; ++n) {
    EXPECT_EQ(choice(gemm(n)), "Gemm_Fast") << n;
  }
  EXPECT_EQ(list(), "");
  ASSERT_LT(device_.clock.now_ms() - begin, 1000);
  const ProblemKey late = gemm(whole + 1);
  EXPECT_EQ(choice(late), "Default");
  EXPECT_LT(device_.clock.now_ms() - begin, 1005);
  EXPECT_EQ(context().stored(late), std::nullopt);
  const KeyText key = context().key_text(late);
  EXPECT_EQ(list(), key.op + ',' + key.params + '\n');
  EXPECT_EQ(read_text(csv()).find(key.params), std::string::npos);
  EXPECT_TRUE(warnings().empty());
  // It is tuned where there is time, as any other.
  context().clear();
  EXPECT_EQ(choice(late), "Gemm_Fast");
}

// Its own budget, however, is what somebody set for every problem.
TEST_F(ContextPaceTest, WhatItsOwnBudgetCutsShortIsKept) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  add({.name = "Gemm_Endless", .ms = 200});
  context().set_setting("MAX_TUNING_BUDGET_MS", "100");
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(list(), "");
}

TEST_F(ContextPaceTest, TheLogSaysWhenTuningEnds) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("TOTAL_BUDGET_S", "1");
  context().set_setting("VERBOSE", "1");
  context().set_setting("VERBOSE_FILENAME", path("log"));
  for (std::int64_t n = 1; n <= 100; ++n) {
    choice(to_key(gemm_problem(n, n + 1, n + 2)));
  }
  const std::string log = read_text(path("log"));
  const std::string end =
      "no more tuning inside products: TOTAL_BUDGET_S is used up\n";
  EXPECT_TRUE(log.ends_with(end)) << log;
  EXPECT_EQ(log.find(end), log.size() - end.size()) << "once";
}

// A failed tuning cost the program time, too.
TEST_F(ContextPaceTest, AFailureCounts) {
  add({.name = "Gemm_Late", .ms = 600, .fault = Fault::kFails});
  context().set_setting("TOTAL_BUDGET_S", "1");
  context().set_setting("MAX_TUNING_BUDGET_MS", "100000");
  choice(gemm(1));
  choice(gemm(2));
  const double spent = device_.clock.now_ms();
  EXPECT_GE(spent, 1000);
  choice(gemm(3));
  EXPECT_EQ(device_.clock.now_ms(), spent);
}

// Whoever is told that it may tune has not got the turn yet.
TEST_F(ContextPaceTest, IsAskedAgainOnceNobodyElseTunes) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("MAX_VARIANTS", "1");
  device_.when_asked = [this, first = true]() mutable {
    if (std::exchange(first, false)) {
      EXPECT_EQ(choice(gemm(9)), "Gemm_Fast");
    }
  };
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(context().results({}).size(), 1U);
}

// One attention block that writes 200 tokens after prompts of 40 lengths, with
// default limits: whatever it meets, the stall is bounded.
TEST_F(ContextPaceTest, AGeneratingProgramIsNotStalled) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  const auto batched = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmProblem p = gemm_problem(m, n, k);
    p.batched = true;
    p.batch = 8;
    p.stride_a = m * k;
    p.stride_b = k * n;
    p.stride_c = m * n;
    return to_key(p);
  };
  const auto attend = [&](std::int64_t tokens, std::int64_t length) {
    choice(batched(length, tokens, 16));  // q @ k^T
    choice(batched(16, tokens, length));  // p @ v
    choice(to_key(gemm_problem(128, tokens, 128)));
  };
  for (std::int64_t prompt = 20; prompt < 60; ++prompt) {
    attend(prompt, prompt);
  }
  for (std::int64_t length = 60; length < 260; ++length) {
    attend(1, length);
  }
  // Two products of attention over prompts and two over the cache, and the
  // layer; where a length is 16 or 128 by chance it counts for others, too.
  EXPECT_LE(context().results({}).size(), 5U * 32);
  EXPECT_GE(context().results({}).size(), 4U * 32);
  EXPECT_LE(device_.clock.now_ms(), 120'005);
}

// Whoever tunes explicitly asked for it.
TEST_F(ContextPaceTest, ProductsDoNotWaitForAnExhaustiveSearch) {
  std::vector<Config> all;
  for (int x = 0; x < 2000; ++x) {
    all.push_back(Config().with("x", x));
  }
  add({.name = "Gemm_Rich", .ms = 0.5, .configs = {all[0]}, .space = all});
  context().set_setting("SEARCH", "exhaustive");
  context().set_setting("MAX_TUNING_BUDGET_MS", "100");
  const double begin = device_.clock.now_ms();
  EXPECT_NE(choice(gemm(4)), "Default");
  EXPECT_LT(device_.clock.now_ms() - begin, 110);
  EXPECT_EQ(context().tune(gemm(4), {}, false).searched, 1999);
}

}  // namespace
}  // namespace tunedops
