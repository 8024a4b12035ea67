// Kernels get their threads from whoever loaded the core. Every index must be
// visited once, and small work must not ask for threads at all.

#include "tuning/parallel_for.h"

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tunedops {
namespace {

std::atomic<int> calls{0};

void on_own_threads(std::int64_t count, int threads, ParallelForBody body,
                    const void* context) {
  ++calls;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back(
        [=] { body(context, count * t / threads, count * (t + 1) / threads); });
  }
  for (std::thread& thread : pool) {
    thread.join();
  }
}

void serial(std::int64_t count, int, ParallelForBody body,
            const void* context) {
  body(context, 0, count);
}

class ParallelForTest : public testing::Test {
 protected:
  ParallelForTest() {
    install_parallel_for(&on_own_threads);
    calls = 0;
  }
  ~ParallelForTest() override { install_parallel_for(&serial); }

  // How often each index was visited, and whether by one thread only.
  static std::vector<int> visit(std::int64_t count, int threads) {
    std::vector<int> visits(static_cast<std::size_t>(count));
    parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        ++visits[static_cast<std::size_t>(i)];
      }
    });
    return visits;
  }
};

TEST_F(ParallelForTest, VisitsEveryIndexOnce) {
  for (const std::int64_t count : {2, 3, 7, 100}) {
    for (const int threads : {2, 3, 8}) {
      EXPECT_EQ(visit(count, threads),
                std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
  EXPECT_EQ(calls, 12);
}

TEST_F(ParallelForTest, OnePieceStaysOnTheThread) {
  const std::thread::id caller = std::this_thread::get_id();
  for (const auto& [count, threads] : {std::pair{1, 8}, std::pair{9, 1}}) {
    std::int64_t visited = 0;
    parallel_for(count, threads, [&](std::int64_t begin, std::int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      visited += end - begin;
    });
    EXPECT_EQ(visited, count);
  }
  EXPECT_EQ(calls, 0);
}

TEST_F(ParallelForTest, NothingToDoCallsNobody) {
  parallel_for(0, 8, [](std::int64_t, std::int64_t) { FAIL(); });
  EXPECT_EQ(calls, 0);
}

TEST_F(ParallelForTest, WorksWithASerialImplementation) {
  install_parallel_for(&serial);
  EXPECT_EQ(visit(5, 4), std::vector<int>(5, 1));
}

}  // namespace
}  // namespace tunedops
