// A block in which a solution is forced: for this thread, for as long as it
// lasts, wherever the solution fits, and without a trace afterwards.

#include <stdexcept>
#include <thread>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextOverlayTest : public ContextTest {
 protected:
  ContextOverlayTest() {
    add({.name = "Gemm_Fast", .ms = 0.5});
    add({.name = "Gemm_Slow", .ms = 2.0});
    add({.name = "Gemm_Unable", .fault = Fault::kUnsupported});
  }

  // What a `with` block does.
  class Forced {
   public:
    explicit Forced(std::uint32_t overlay)
        : before_(ThreadState::current().overlay) {
      ThreadState::current().overlay = overlay;
    }
    ~Forced() { ThreadState::current().overlay = before_; }

   private:
    std::uint32_t before_;
  };

  std::uint32_t force(const std::string& solution) {
    return context().forced_overlay(solution);
  }
};

TEST_F(ContextOverlayTest, ForcesWithoutTuningOrStoring) {
  {
    const Forced block(force("Gemm_Slow"));
    EXPECT_EQ(choice(gemm()), "Gemm_Slow");
    EXPECT_EQ(choice(gemm()), "Gemm_Slow");
  }
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(context().results({}).empty());
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "as if nothing had been";
}

TEST_F(ContextOverlayTest, BeatsWhatIsStored) {
  write_csv(row(8, "Gemm_Fast"));
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
  const Forced block(force("Gemm_Slow"));
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
}

TEST_F(ContextOverlayTest, Nests) {
  const Forced outer(force("Gemm_Slow"));
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
  {
    const Forced inner(force("Gemm_Fast"));
    EXPECT_EQ(choice(gemm()), "Gemm_Fast");
    {
      const Forced innermost(force("Default"));
      EXPECT_EQ(choice(gemm()), "Default");
    }
    EXPECT_EQ(choice(gemm()), "Gemm_Fast");
  }
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
}

TEST_F(ContextOverlayTest, WhereItDoesNotFitItMeansDefault) {
  {
    const Forced block(force("Gemm_Unable"));
    EXPECT_EQ(choice(gemm()), "Default");
  }
  const Forced block(force("Gemm_Fast"));
  EXPECT_EQ(choice(scale_problem(3)), "Default") << "it is of another op";
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextOverlayTest, ActsWhileTheSwitchIsOff) {
  restart({{"ENABLED", "0"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_FALSE(context().is_active());
  const Forced block(force("Gemm_Fast"));
  EXPECT_TRUE(context().is_active());
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
}

TEST_F(ContextOverlayTest, IsOfItsThreadAlone) {
  const Forced block(force("Gemm_Slow"));
  std::string other;
  std::thread([&] { other = choice(gemm()); }).join();
  EXPECT_EQ(other, "Gemm_Fast");
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
}

TEST_F(ContextOverlayTest, ASolutionThatNoKernelHasIsAnError) {
  try {
    force("Gemm_Fats");
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "force: there is no solution 'Gemm_Fats'; `doctor` lists the "
              "kernels");
  }
}

TEST_F(ContextOverlayTest, OneSolutionIsOneOverlay) {
  const std::uint32_t fast = force("Gemm_Fast");
  EXPECT_NE(fast, 0U);
  EXPECT_NE(force("Gemm_Slow"), fast);
  EXPECT_EQ(force("Gemm_Fast"), fast);
}

// --- Results that govern a block ---------------------------------------------

class ContextResultsOverlayTest : public ContextOverlayTest {
 protected:
  std::uint32_t lay(std::int64_t n, const std::string& solution,
                    std::uint32_t below = 0) {
    OverlayResults results;
    results.solutions[gemm_op().definition.to_text(gemm(n))] = solution;
    results.devices = {gemm().header().device()};
    return context().lay_overlay(
        context().add_overlay_results(std::move(results)), below);
  }
};

TEST_F(ContextResultsOverlayTest, BeatThoseOfTheFile) {
  write_csv(row(8, "Gemm_Fast") + row(16, "Gemm_Fast"));
  {
    const Forced block(lay(8, "Gemm_Slow"));
    EXPECT_EQ(choice(gemm(8)), "Gemm_Slow");
    EXPECT_EQ(choice(gemm(16)), "Gemm_Fast") << "of which they say nothing";
  }
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
}

TEST_F(ContextResultsOverlayTest, Nest) {
  const Forced outer(lay(8, "Gemm_Slow"));
  {
    const Forced inner(lay(16, "Gemm_Slow", ThreadState::current().overlay));
    EXPECT_EQ(choice(gemm(8)), "Gemm_Slow");
    EXPECT_EQ(choice(gemm(16)), "Gemm_Slow");
  }
  EXPECT_EQ(choice(gemm(16)), "Gemm_Fast");
}

TEST_F(ContextResultsOverlayTest, TuneNothingWhereTheSwitchIsOff) {
  restart({{"ENABLED", "0"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  write_csv(row(16, "Gemm_Fast"));
  const Forced block(lay(8, "Gemm_Fast"));
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(16)), "Gemm_Fast") << "the file counts in the block";
  EXPECT_EQ(choice(gemm(32)), "Default");
  EXPECT_EQ(standard().runs(), 0);
}

TEST_F(ContextResultsOverlayTest, SayOnceWhatCannotBeUsed) {
  const Forced block(lay(8, "Gemm_Unable"));
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(choice(gemm(8)), "Default");
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("'Gemm_Unable'"), std::string::npos);
}

// --- Which overlay a thread has ----------------------------------------------

thread_local std::uint32_t of_this_thread = 0;

TEST_F(ContextOverlayTest, ASourceIsAskedWhileABlockIsThere) {
  context().set_overlay_source([] { return of_this_thread; });
  of_this_thread = force("Gemm_Slow");
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "no block has begun";
  context().overlay_begins();
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
  std::string other;
  std::thread([&] { other = choice(gemm()); }).join();
  EXPECT_EQ(other, "Gemm_Fast");
  std::thread([&, same = of_this_thread] {
    of_this_thread = same;  // as torch hands it to autograd's threads
    other = choice(gemm());
  }).join();
  EXPECT_EQ(other, "Gemm_Slow");
  context().overlay_ends();
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "whatever the source still says";
  of_this_thread = 0;
}

}  // namespace
}  // namespace tunedops
