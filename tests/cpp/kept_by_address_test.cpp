// What is kept for addresses: found again, and never more than is allowed.

#include "kernels/gemm/cuda/kept_by_address.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tunedops::cuda {
namespace {

using Kept = KeptByAddress<int>;

const void* address(std::size_t number) {
  static const std::vector<char> memory(10'000);
  return memory.data() + number;
}

TEST(KeptByAddress, IsFoundAgain) {
  Kept kept;
  EXPECT_FALSE(kept.find(address(0)).has_value());
  kept.keep(address(0), 7);
  kept.keep(address(1), 8);
  EXPECT_EQ(kept.find(address(0)), 7);
  EXPECT_EQ(kept.find(address(1)), 8);
  EXPECT_FALSE(kept.find(address(2)).has_value());
}

TEST(KeptByAddress, AllIsForgottenWhenThereIsTooMuch) {
  Kept kept;
  for (std::size_t i = 0; i < Kept::kMost; ++i) {
    kept.keep(address(i), static_cast<int>(i));
  }
  EXPECT_EQ(kept.find(address(0)), 0);
  kept.keep(address(Kept::kMost), 1);
  EXPECT_FALSE(kept.find(address(0)).has_value());
  EXPECT_EQ(kept.find(address(Kept::kMost)), 1);
}

TEST(KeptByAddress, ThreadsFindWhatBelongsToTheAddress) {
  Kept kept;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 5000; ++i) {
        const std::size_t number = i % (2 * Kept::kMost);
        const auto found = kept.find(address(number));
        if (found.has_value()) {
          EXPECT_EQ(*found, static_cast<int>(number));
        }
        kept.keep(address(number), static_cast<int>(number));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace tunedops::cuda
