// A program that tuned while other work held the processors says so once, at
// its exit: nobody watched its measurements.

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextDisturbedTest : public ContextTest {
 protected:
  void tune(std::int64_t n, double waited_share) {
    device_.waited_share = waited_share;
    choice(gemm(n));
  }

  std::vector<std::string> said_at_exit() {
    context().on_exit();
    return warnings();
  }
};

TEST_F(ContextDisturbedTest, IsCountedAtTheExit) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  tune(8, 0.5);
  tune(9, 0);
  tune(10, 0.5);
  EXPECT_TRUE(warnings().empty()) << "not at each product";
  EXPECT_EQ(said_at_exit(),
            std::vector<std::string>{
                "tunedops: 2 of 3 results were timed while other work held the "
                "processors; `python -m tunedops tune " +
                csv() + " -o " + csv() + "` measures them again"});
}

TEST_F(ContextDisturbedTest, AFileOfTheEnvironmentIsTheCommandsToo) {
  restart({{"FILENAME", path("results.csv")}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  tune(8, 0.5);
  const std::vector<std::string> said = said_at_exit();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].ends_with("tune " + csv() + "` measures them again"));
}

TEST_F(ContextDisturbedTest, WhoAllowsAllWaitingHasNoMarks) {
  const auto is_disturbed = [this](const std::string& percent) {
    context().set_setting("MAX_WAITING_PERCENT", percent);
    return context().tune(gemm(8), {}, true).disturbed;
  };
  add({.name = "Gemm_Slow", .ms = 2.0});
  device_.noise = 1;
  EXPECT_TRUE(is_disturbed("99")) << "by its readings";
  EXPECT_FALSE(is_disturbed("100"));
  device_.noise = 0;
  device_.waited_share = 1;
  EXPECT_TRUE(is_disturbed("99"));
  EXPECT_FALSE(is_disturbed("100"));
}

TEST_F(ContextDisturbedTest, NothingIsSaidOfQuietResults) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  tune(8, 0);
  EXPECT_TRUE(said_at_exit().empty());
}

TEST_F(ContextDisturbedTest, NorOfWhatItFoundInTheFile) {
  write_csv(row(8, "Default,1,1,fake-busy"));
  tune(8, 0.5);
  EXPECT_TRUE(said_at_exit().empty());
}

// Its caller has the outcome, and says so with it.
TEST_F(ContextDisturbedTest, NorOfExplicitTuning) {
  device_.waited_share = 0.5;
  EXPECT_TRUE(context().tune(gemm(8), {}, true).disturbed);
  EXPECT_TRUE(said_at_exit().empty());
}

TEST_F(ContextDisturbedTest, NorOfWhatWasForgottenOrIsNotWritten) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  tune(8, 0.5);
  context().clear();
  EXPECT_TRUE(said_at_exit().empty());
  tune(9, 0.5);
  context().set_write_file_on_exit(false);
  EXPECT_TRUE(said_at_exit().empty());
}

}  // namespace
}  // namespace tunedops
