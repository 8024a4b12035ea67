// A thread's memory of calls: words decide, as many as a call has, and what
// lies behind them does not.

#include "tuning/call_cache.h"

#include <gtest/gtest.h>

#include <set>

namespace tunedops {
namespace {

CallKey key_of(std::uint64_t rows, std::uint64_t behind = 0) {
  CallKey key;
  key.words.fill(behind);
  key.words[0] = 7;
  key.words[1] = rows;
  key.words[2] = rows << 32;
  return key;
}

constexpr std::size_t kWords = 3;

const Plan* plan(std::uintptr_t number) {
  return reinterpret_cast<const Plan*>(number * 64);
}

const CallCache::Entry* find(const CallCache& cache, const CallKey& key) {
  return cache.find(key.hash(kWords), 0, [&](const CallKey& other) {
    return key.begins_like(other, kWords);
  });
}

TEST(CallCache, FindsEachOfManyCalls) {
  CallCache cache;
  for (std::uint64_t rows = 1; rows <= 5000; ++rows) {
    const CallKey key = key_of(rows);
    cache.insert(key, key.hash(kWords), 0, plan(rows), 1, rows % 8);
  }
  for (std::uint64_t rows = 1; rows <= 5000; ++rows) {
    const auto* entry = find(cache, key_of(rows, /*behind=*/rows));
    ASSERT_NE(entry, nullptr) << rows;
    EXPECT_EQ(entry->plan, plan(rows));
    EXPECT_EQ(entry->note, rows % 8);
  }
  EXPECT_EQ(find(cache, key_of(5001)), nullptr);
}

TEST(CallCache, TellsCallsOfOneHashApart) {
  CallCache cache;
  cache.insert(key_of(1), 99, 0, plan(1), 1);
  cache.insert(key_of(2), 99, 0, plan(2), 1);
  const auto at = [&](std::uint64_t rows) {
    const CallKey key = key_of(rows);
    return cache.find(99, 0, [&](const CallKey& other) {
      return key.begins_like(other, kWords);
    });
  };
  EXPECT_EQ(at(1)->plan, plan(1));
  EXPECT_EQ(at(2)->plan, plan(2));
  EXPECT_EQ(at(3), nullptr);
}

// Sizes lie in the halves of words, so both halves must reach the bits that the
// cache looks by.
TEST(CallKey, NeighboursHaveDifferentPlaces) {
  std::set<std::uint64_t> low;
  std::set<std::uint64_t> high;
  for (std::uint64_t n = 0; n < 1024; ++n) {
    CallKey key = key_of(1);
    key.words[2] = n;
    low.insert(key.hash(kWords) >> 1 & 0xffff);
    key.words[2] = n << 32;
    high.insert(key.hash(kWords) >> 1 & 0xffff);
  }
  EXPECT_GT(low.size(), 1000U);
  EXPECT_GT(high.size(), 1000U);
}

TEST(CallKey, NoHashMarksAFreeSlot) {
  for (std::uint64_t rows = 0; rows < 1000; ++rows) {
    EXPECT_NE(key_of(rows).hash(kWords), 0U);
  }
}

}  // namespace
}  // namespace tunedops
