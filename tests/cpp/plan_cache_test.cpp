// A thread's memory of decisions: what was put in is found, under its overlay
// and its epoch only, and a program whose shapes never repeat does not grow it
// without bound.

#include "tuning/plan_cache.h"

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  // Plans are only compared here, so any address will do.
  static const Plan* plan(std::uintptr_t number) {
    return reinterpret_cast<const Plan*>(number * 64);
  }

  void insert(const ProblemKey& key, const Plan* plan, std::uint64_t epoch = 1,
              std::uint32_t overlay = 0) {
    cache_.insert(key, ProblemCache::hash_of(key), overlay, plan, epoch);
  }

  const ProblemCache::Entry* find(const ProblemKey& key,
                                  std::uint32_t overlay = 0) const {
    return cache_.find(key, ProblemCache::hash_of(key), overlay);
  }

  ProblemCache cache_;
};

TEST_F(PlanCacheTest, IsEmptyAtFirst) {
  EXPECT_EQ(find(scale_problem(1)), nullptr);
}

TEST_F(PlanCacheTest, FindsEachOfManyDecisions) {
  for (int n = 1; n <= 5000; ++n) {
    insert(scale_problem(n), plan(static_cast<std::uintptr_t>(n)));
  }
  for (int n = 1; n <= 5000; ++n) {
    const auto* entry = find(scale_problem(n));
    ASSERT_NE(entry, nullptr) << n;
    ASSERT_EQ(entry->plan, plan(static_cast<std::uintptr_t>(n)));
  }
  EXPECT_EQ(find(scale_problem(5001)), nullptr);
}

TEST_F(PlanCacheTest, RemembersDefaultToo) {
  insert(scale_problem(1), nullptr);
  ASSERT_NE(find(scale_problem(1)), nullptr);
  EXPECT_EQ(find(scale_problem(1))->plan, nullptr);
}

TEST_F(PlanCacheTest, OverlaysHaveDecisionsOfTheirOwn) {
  insert(scale_problem(1), plan(1), 1, 0);
  insert(scale_problem(1), plan(2), 1, 7);
  EXPECT_EQ(find(scale_problem(1), 0)->plan, plan(1));
  EXPECT_EQ(find(scale_problem(1), 7)->plan, plan(2));
  EXPECT_EQ(find(scale_problem(1), 8), nullptr);
}

TEST_F(PlanCacheTest, ANewEpochForgetsAll) {
  insert(scale_problem(1), plan(1), 1);
  insert(scale_problem(2), plan(2), 2);
  EXPECT_EQ(cache_.epoch(), 2U);
  EXPECT_EQ(find(scale_problem(1)), nullptr);
  EXPECT_EQ(find(scale_problem(2))->plan, plan(2));
}

TEST_F(PlanCacheTest, TellsProblemsOfOneHashApart) {
  const std::uint64_t hash = 99;
  cache_.insert(scale_problem(1), hash, 0, plan(1), 1);
  cache_.insert(scale_problem(2), hash, 0, plan(2), 1);
  EXPECT_EQ(cache_.find(scale_problem(1), hash, 0)->plan, plan(1));
  EXPECT_EQ(cache_.find(scale_problem(2), hash, 0)->plan, plan(2));
  EXPECT_EQ(cache_.find(scale_problem(3), hash, 0), nullptr);
}

TEST_F(PlanCacheTest, IsBounded) {
  constexpr int kMany = (1 << 16) + 10;
  for (int n = 1; n <= kMany; ++n) {
    insert(scale_problem(n), plan(static_cast<std::uintptr_t>(n)));
  }
  // It started anew when it was full.
  EXPECT_EQ(find(scale_problem(1)), nullptr);
  ASSERT_NE(find(scale_problem(kMany)), nullptr);
  EXPECT_EQ(find(scale_problem(kMany))->plan, plan(kMany));
}

TEST(PlanCache, NoHashMarksAFreeSlot) {
  for (int n = 1; n <= 1000; ++n) {
    EXPECT_NE(ProblemCache::hash_of(scale_problem(n)), 0U);
  }
}

// Overlays come and go, and each has decisions of its own on one problem.
TEST_F(PlanCacheTest, ManyOverlaysOfOneProblemDoNotQueue) {
  constexpr std::uint32_t kOverlays = 20000;
  for (std::uint32_t overlay = 1; overlay <= kOverlays; ++overlay) {
    insert(scale_problem(1), plan(overlay), 1, overlay);
  }
  std::size_t compared = 0;
  const ProblemKey key = scale_problem(1);
  for (std::uint32_t overlay = 1; overlay <= kOverlays; ++overlay) {
    const auto* const found = cache_.find(ProblemCache::hash_of(key), overlay,
                                          [&](const ProblemKey& other) {
                                            ++compared;
                                            return key == other;
                                          });
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->plan, plan(overlay));
  }
  EXPECT_EQ(compared, kOverlays);
}

}  // namespace
}  // namespace tunedops
