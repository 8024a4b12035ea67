// Many threads multiply while others change everything that can be changed. No
// thread may ever get a plan of another problem, or one that is gone.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextThreadsTest : public ContextTest {
 protected:
  // Runs each job on a thread of its own, all at once.
  static void run_all(const std::vector<std::function<void()>>& jobs) {
    std::atomic<bool> start{false};
    std::vector<std::thread> threads;
    for (const auto& job : jobs) {
      threads.emplace_back([&start, &job] {
        while (!start) {
          std::this_thread::yield();
        }
        job();
      });
    }
    start = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  // Whether a plan is one that this problem may run on.
  static bool fits(const Plan* plan, const ProblemKey& problem) {
    return plan == nullptr ||
           static_cast<const FakePlan*>(plan)->problem() == problem;
  }
};

TEST_F(ContextThreadsTest, PlansFitWhileEverythingChanges) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  add({.name = "Gemm_Other", .ms = 2.0});
  add({.name = "Scale_Fast", .ms = 0.5}, scale_op());
  context().set_setting("MAX_TUNING_ITERATIONS", "2");
  const std::uint32_t overlay = context().forced_overlay("Gemm_Other");
  std::atomic<int> misfits{0};
  std::atomic<int> lost{0};
  std::atomic<bool> done{false};

  const auto multiply = [&] {
    for (int i = 0; i < 3000; ++i) {
      const ProblemKey problem =
          i % 5 == 0 ? scale_problem(1 + i % 7) : gemm(1 + i % 11);
      misfits += fits(context().plan_for(problem, {}), problem) ? 0 : 1;
      ThreadState::current().overlay = i % 3 == 0 ? overlay : 0;
      if (i % 3 == 0 && choice(gemm(1 + i % 11)) != "Gemm_Other") {
        ++lost;
      }
    }
    ThreadState::current() = {};
  };
  const auto change = [&] {
    for (int i = 0; !done; ++i) {
      context().set_setting("TUNING", i % 2 == 0 ? "0" : "1");
      context().set_setting("VERBOSE", "0");
      context().set_setting("KERNELS", i % 3 == 0 ? "Gemm_Other" : "");
      (void)context().results({});
      (void)context().erase({}, context().key_text(gemm(1 + i % 11)));
      if (i % 16 == 0) {
        (void)context().write_file();
        (void)context().read_file({}, {});
        context().clear();
      }
      std::this_thread::yield();
    }
  };
  std::thread changer(change);
  run_all({multiply, multiply, multiply});
  done = true;
  changer.join();
  EXPECT_EQ(misfits, 0);
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(warnings().empty()) << warnings()[0];
  EXPECT_EQ(device_.open_scopes, 0);
}

// Two threads that miss the same product at once: one tunes it, the other does
// not wait, and afterwards both agree.
TEST_F(ContextThreadsTest, AMissIsTunedByOneThreadOnly) {
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.5});
  context().set_setting("MAX_TUNING_ITERATIONS", "1");
  context().set_setting("MAX_WARMUP_ITERATIONS", "0");
  const std::function<void()> miss = [this] {
    for (std::int64_t n = 1; n <= 16; ++n) {
      const std::string chosen = choice(gemm(n));
      EXPECT_TRUE(chosen == "Gemm_Fast" || chosen == "Default") << chosen;
    }
  };
  run_all({miss, miss, miss, miss});
  for (std::int64_t n = 1; n <= 16; ++n) {
    EXPECT_EQ(choice(gemm(n)), "Gemm_Fast");
  }
  EXPECT_EQ(fast.runs(), 16 * 4) << "each product was tuned once";
  EXPECT_EQ(context().results({}).size(), 16U);
}

TEST_F(ContextThreadsTest, AChangedSwitchReachesEveryThread) {
  write_csv(row(8, "Gemm_Fast"));
  add({.name = "Gemm_Fast", .ms = 0.5});
  std::atomic<int> stage{0};
  std::string before;
  std::string after;
  std::thread other([&] {
    before = choice(gemm());
    stage = 1;
    while (stage != 2) {
      std::this_thread::yield();
    }
    after = choice(gemm());
  });
  while (stage != 1) {
    std::this_thread::yield();
  }
  write_csv(row(8, "Default"));
  context().read_file({}, {});
  stage = 2;
  other.join();
  EXPECT_EQ(before, "Gemm_Fast");
  EXPECT_EQ(after, "Default");
}

// A handler may run Python, which may wait for another thread that tunes.
TEST_F(ContextThreadsTest, NoLockIsHeldWhileAWarningIsSaid) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  const std::thread::id caller = std::this_thread::get_id();
  int said = 0;
  std::vector<std::thread> others;
  context().log().set_warning_handler([&](const std::string&) {
    if (std::this_thread::get_id() != caller) {
      return;  // what the other thread has to say is not the point
    }
    ++said;
    std::promise<std::string> promise;
    std::future<std::string> other = promise.get_future();
    others.emplace_back([this, promise = std::move(promise)]() mutable {
      promise.set_value(context().tune(gemm(9), {}, false).solution);
    });
    ASSERT_EQ(other.wait_for(std::chrono::seconds(5)),
              std::future_status::ready);
    EXPECT_EQ(other.get(), "Gemm_Fast");
  });
  context().set_setting("KERNELS", "Gemm_Fast,Gemm_Fats");
  choice(gemm(7));
  EXPECT_EQ(said, 1) << "of the unknown kernel";
  context().set_setting("VERBOSE", "1");
  context().set_setting("VERBOSE_FILENAME", path("missing/log"));
  testing::internal::CaptureStderr();
  choice(gemm(8));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, 2) << "of the log that cannot be written";
  for (std::thread& other : others) {
    other.join();
  }
}

// One thread's cache serves many contexts, as in these tests.
TEST_F(ContextThreadsTest, ContextsDoNotMixUpTheirDecisions) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  TuningContext other([](const char*) { return nullptr; });
  other.register_op(std::make_unique<GemmDefinition>());
  other.register_backend(DeviceType::kCpu,
                         std::make_unique<FakeBackend>(device_));
  other.set_filename(path("other.csv"), true);
  other.set_setting("TUNING", "0");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(choice(gemm()), "Gemm_Fast");
    EXPECT_EQ(other.plan_for(gemm(), {}), nullptr);
  }
}

// A child has none of its parent's threads and must not use its device.
TEST_F(ContextThreadsTest, AForkedChildUsesResultsAndTunesNothing) {
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  const int runs = fast.runs();
  const std::string text = read_text(csv());
  context().before_fork();
  const pid_t child = ::fork();
  context().after_fork();
  if (child == 0) {
    int failures = 0;
    failures += choice(gemm(8)) == "Gemm_Fast" ? 0 : 1;
    failures += choice(gemm(9)) == "Default" ? 0 : 2;
    failures += fast.runs() == runs ? 0 : 4;
    try {
      context().tune(gemm(9), {}, true);
      failures += 8;
    } catch (const std::runtime_error& error) {
      failures +=
          std::string(error.what()).starts_with("tune: not in a forked child")
              ? 0
              : 16;
    }
    context().on_exit();
    ::_exit(failures);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read_text(csv()), text);
  EXPECT_EQ(choice(gemm(9)), "Gemm_Fast") << "the parent goes on";
}

}  // namespace
}  // namespace tunedops
