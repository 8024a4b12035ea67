// The real backend of the real machine: facts fit for files, memory that is
// aligned, and a stopwatch that times what it says it times.

#include "backends/cpu/cpu_backend.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "backends/cpu/cpu_stopwatch.h"
#include "backends/cpu/host_facts.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/processor_share.h"
#include "kernels/revision.h"
#include "tuning/results_csv.h"

namespace tunedops::cpu {
namespace {

TEST(CpuBackend, ValidatorsNameKernelsAndProcessor) {
  const CpuBackend backend;
  const auto entries = backend.validators({}).entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries.at("TUNEDOPS_KERNELS"), std::to_string(kKernelsRevision));
  EXPECT_EQ(entries.at("DEVICE"),
            processor_name() + ':' + std::string(to_text(detected_isa())));
  EXPECT_EQ(backend.validators({}), backend.validators({}));
}

TEST(CpuBackend, NamesFitIntoFiles) {
  const CpuBackend backend;
  EXPECT_TRUE(is_csv_field(processor_name())) << processor_name();
  EXPECT_EQ(processor_name().find(':'), std::string::npos);
  EXPECT_EQ(backend.file_tag({}), "_cpu");
  EXPECT_EQ(backend.device_name({}), processor_name() + " (" +
                                         std::string(to_text(detected_isa())) +
                                         ')');
}

TEST(CpuBackend, FactsAreOfThisCentury) {
  const CpuBackend backend;
  EXPECT_GE(backend.cache_bytes({}), std::size_t{64} << 10);
  EXPECT_LE(backend.cache_bytes({}), std::size_t{16} << 30);
  EXPECT_GE(backend.tuning_memory_bytes({}), std::size_t{1} << 20);
  EXPECT_LE(backend.tuning_memory_bytes({}), available_memory_bytes());
  EXPECT_TRUE(backend.may_tune({}, {}).is_ok());
}

class CacheFacts : public testing::Test {
 protected:
  CacheFacts() { std::filesystem::create_directories(folder_); }
  ~CacheFacts() override { std::filesystem::remove_all(folder_); }

  void add(int processor, int index, const std::string& level,
           const std::string& size, const std::string& sharers) {
    const auto cache = folder_ / ("cpu" + std::to_string(processor)) / "cache" /
                       ("index" + std::to_string(index));
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "level") << level << '\n';
    std::ofstream(cache / "size") << size << '\n';
    std::ofstream(cache / "shared_cpu_list") << sharers << '\n';
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("cache_facts_" + std::to_string(::getpid()));
};

TEST_F(CacheFacts, ASharedCacheCountsOnce) {
  for (int processor = 0; processor < 8; ++processor) {
    add(processor, 0, "1", "48K", std::to_string(processor));
    add(processor, 2, "2", "1024K", std::to_string(processor));
    add(processor, 3, "3", "32768K", processor < 4 ? "0-3" : "4-7");
  }
  EXPECT_EQ(last_cache_bytes(folder_), std::size_t{64} << 20);
}

TEST_F(CacheFacts, WithoutAThirdLevelTheSecondCounts) {
  add(0, 0, "1", "64K", "0");
  add(0, 1, "2", "2M", "0-1");
  add(1, 0, "1", "64K", "1");
  add(1, 1, "2", "2M", "0-1");
  EXPECT_EQ(last_cache_bytes(folder_), std::size_t{2} << 20);
}

TEST_F(CacheFacts, WhatIsNotToldIsZero) {
  EXPECT_EQ(last_cache_bytes(folder_), 0U);
  EXPECT_EQ(last_cache_bytes(folder_ / "no" / "such"), 0U);
  add(0, 0, "1", "32K", "0");
  EXPECT_EQ(last_cache_bytes(folder_), 0U) << "only a first level";
  add(1, 3, "three", "much", "");
  EXPECT_EQ(last_cache_bytes(folder_), 0U);
}

TEST_F(CacheFacts, WaitingForProcessorsIsAShare) {
  const auto count = [&](const std::string& thread, const std::string& text) {
    std::filesystem::create_directories(folder_ / thread);
    std::ofstream(folder_ / thread / "schedstat") << text << '\n';
  };
  count("1", "1000000000 500000000 7");
  count("2", "5 5 5");
  const ProcessorShare share(folder_);
  EXPECT_EQ(share.waited(), 0) << "nothing has run since";
  count("1", "1090000000 510000000 9");
  EXPECT_NEAR(share.waited(), 0.1, 1e-9);
  count("3", "0 100000000 1");  // began meanwhile
  EXPECT_NEAR(share.waited(), 0.55, 1e-9);
  std::filesystem::remove_all(folder_ / "1");  // and ended
  count("2", "no numbers");
  EXPECT_NEAR(share.waited(), 1, 1e-9);
  EXPECT_EQ(ProcessorShare(folder_ / "none").waited(), 0);
}

TEST(CpuBackend, MemoryIsAlignedAndCanBeFilled) {
  const CpuBackend backend;
  for (const std::size_t bytes : {1U, 255U, 257U, 100000U}) {
    const DeviceMemory memory = backend.allocate({}, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 512, 0U);
    std::memset(memory.get(), 1, bytes);
  }
  const DeviceMemory memory = backend.allocate({}, 6);
  const auto operand_memory = backend.make_operand_memory({}, {});
  ASSERT_TRUE(operand_memory->poison(memory.get(), 6).is_ok());
  EXPECT_EQ(std::memcmp(memory.get(), "\xff\xff\xff\xff\xff\xff", 6), 0);
}

TEST(CpuBackend, MemoryThatIsNotThereIsNull) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end a program that asks for so much";
#endif
  EXPECT_EQ(CpuBackend().allocate({}, std::size_t{1} << 60), nullptr);
}

TEST(CpuStopwatch, WalksThroughTheRotation) {
  CpuStopwatch stopwatch;
  std::string order;
  std::vector<Launch> rotation;
  for (const char name : {'a', 'b', 'c'}) {
    rotation.emplace_back([&order, name] {
      order += name;
      return Status::ok();
    });
  }
  double milliseconds = 0;
  ASSERT_TRUE(stopwatch.measure(rotation, 1, 5, milliseconds).is_ok());
  EXPECT_EQ(order, "bcabc");
  ASSERT_TRUE(stopwatch.measure(rotation, 5, 1, milliseconds).is_ok());
  EXPECT_EQ(order, "bcabcc");
}

TEST(CpuStopwatch, GivesTheMeanOfACall) {
  CpuStopwatch stopwatch;
  // A call that takes a tenth of a millisecond by the same clock.
  const std::vector<Launch> rotation{[&stopwatch] {
    const double begin = stopwatch.now_ms();
    while (stopwatch.now_ms() < begin + 0.1) {
    }
    return Status::ok();
  }};
  double milliseconds = 0;
  const double begin = stopwatch.now_ms();
  ASSERT_TRUE(stopwatch.measure(rotation, 0, 10, milliseconds).is_ok());
  const double all = stopwatch.now_ms() - begin;
  EXPECT_GE(milliseconds, 0.1);
  EXPECT_LE(10 * milliseconds, all + 1e-6);
}

TEST(CpuStopwatch, StopsAtAFailure) {
  CpuStopwatch stopwatch;
  int calls = 0;
  const std::vector<Launch> rotation{[&calls] {
    return ++calls == 3 ? Status::failed("worn out") : Status::ok();
  }};
  double milliseconds = 0;
  const Status status = stopwatch.measure(rotation, 0, 10, milliseconds);
  EXPECT_EQ(status.reason(), "worn out");
  EXPECT_EQ(calls, 3);
}

TEST(CpuStopwatch, TheClockIsSteady) {
  CpuStopwatch stopwatch;
  const double first = stopwatch.now_ms();
  EXPECT_LE(first, stopwatch.now_ms());
  EXPECT_GT(stopwatch.resolution_ms(), 0);
  EXPECT_EQ(stopwatch.name(), "clock");
}

TEST(Isa, ALimitLowersAndNeverRaises) {
  const Isa detected = detected_isa();
  for (const Isa limit : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512,
                          Isa::kAvx512Bf16, Isa::kAvx512Amx}) {
    set_isa_limit(limit);
    EXPECT_EQ(usable_isa(), std::min(limit, detected));
    EXPECT_EQ(detected_isa(), detected);
  }
  set_isa_limit(std::nullopt);
  EXPECT_EQ(usable_isa(), detected);
}

TEST(Isa, LevelsHaveNames) {
  EXPECT_EQ(to_text(Isa::kPortable), "portable");
  EXPECT_EQ(to_text(Isa::kAvx2), "avx2");
  EXPECT_EQ(to_text(Isa::kAvx512), "avx512");
  EXPECT_EQ(to_text(Isa::kAvx512Bf16), "avx512_bf16");
  EXPECT_EQ(to_text(Isa::kAvx512Amx), "avx512_amx");
}

}  // namespace
}  // namespace tunedops::cpu
