// Blocks that choose nothing: in one nothing is tuned or written, in the other
// products are noted.

#include <filesystem>
#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextReplayTest : public ContextTest {
 protected:
  ContextReplayTest() {
    add({.name = "Gemm_Fast", .ms = 0.5});
    add({.name = "Gemm_Slow", .ms = 2.0});
  }

  void replay(std::optional<OnMiss> on_miss = std::nullopt) {
    ThreadState::current().overlay = context().replay_overlay(
        {.on_miss = on_miss}, ThreadState::current().overlay);
  }

  static void leave() { ThreadState::current().overlay = 0; }
};

TEST_F(ContextReplayTest, UsesWhatIsStoredAndTunesNothing) {
  write_csv(row(8, "Gemm_Slow"));
  context().set_setting("RECORD_UNTUNED", "1");
  replay();
  EXPECT_EQ(choice(gemm(8)), "Gemm_Slow");
  EXPECT_EQ(choice(gemm(16)), "Default");
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(context().is_replaying());
  context().on_exit();
  EXPECT_FALSE(std::filesystem::exists(path("untuned_cpu.csv")));
  leave();
  EXPECT_FALSE(context().is_replaying());
  EXPECT_EQ(choice(gemm(16)), "Gemm_Fast")
      << "a miss of the block is none here";
}

TEST_F(ContextReplayTest, UsesWhatIsStoredWhileTheSwitchIsOff) {
  restart({{"ENABLED", "0"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  write_csv(row(8, "Gemm_Fast"));
  EXPECT_EQ(context().explain(gemm(8)).decided_by, "nobody");
  replay();
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
}

TEST_F(ContextReplayTest, AMissIsWhatTheBlockSaysElseWhatTheSettingSays) {
  replay(OnMiss::kError);
  EXPECT_THROW(choice(gemm()), std::runtime_error);
  leave();
  context().set_setting("ON_MISS", "error");
  replay(OnMiss::kDefault);
  EXPECT_EQ(choice(gemm()), "Default");
  leave();
  replay();
  EXPECT_THROW(choice(gemm()), std::runtime_error);
}

TEST_F(ContextReplayTest, AnErrorIsOneEachTime) {
  replay(OnMiss::kError);
  for (int i = 0; i < 3; ++i) {
    try {
      choice(gemm());
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      const KeyText key = context().key_text(gemm());
      EXPECT_EQ(std::string(error.what()),
                "no result is stored for '" + key.op + ',' + key.params +
                    "' in replay_only(); tune it before, or let on_miss be "
                    "'default'");
    }
  }
}

TEST_F(ContextReplayTest, ExplicitTuningAndWritingAreRefused) {
  replay();
  EXPECT_THROW(context().tune(gemm(), {}, true), std::runtime_error);
  EXPECT_THROW(context().measure(gemm(), {}, {}), std::runtime_error);
  EXPECT_FALSE(context().write_file());
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_EQ(warnings()[0],
            "tunedops: results are not saved: this is inside replay_only()");
}

TEST_F(ContextReplayTest, AlsoUnderWhatIsForcedInIt) {
  replay(OnMiss::kError);
  ThreadState& thread = ThreadState::current();
  thread.overlay = context().forced_overlay("Gemm_Slow", thread.overlay);
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
  EXPECT_THROW(context().tune(gemm(), {}, true), std::runtime_error);
}

TEST_F(ContextReplayTest, NotesWhatIsAskedForAndChoosesNothing) {
  write_csv(row(8, "Gemm_Slow"));
  ThreadState& thread = ThreadState::current();
  const std::uint32_t record = context().record_overlay(0);
  thread.overlay = record;
  for (const std::int64_t n : {16, 8, 16}) {
    EXPECT_EQ(choice(gemm(n)), "Default");
  }
  thread.overlay = context().forced_overlay("Gemm_Fast", record);
  EXPECT_EQ(choice(gemm(32)), "Default") << "nobody chooses in a recording";
  leave();
  EXPECT_EQ(context().end_record_overlay(record),
            (std::vector<ProblemKey>{gemm(16), gemm(8), gemm(32)}));
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_EQ(choice(gemm(8)), "Gemm_Slow");
}

}  // namespace
}  // namespace tunedops
