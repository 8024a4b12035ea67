// Words to the user: a warning once, verbose lines where they were asked for,
// and never a file that somebody else planted.

#include "tuning/log.h"

#include <sys/stat.h>

#include "fakes.h"

namespace tunedops {
namespace {

class LogTest : public TempFolderTest {
 protected:
  LogTest() {
    log_.set_warning_handler(
        [this](const std::string& text) { warnings_.push_back(text); });
  }

  Log log_;
  std::vector<std::string> warnings_;
};

TEST_F(LogTest, SaysAWarningOnce) {
  for (int i = 0; i < 3; ++i) {
    log_.warn("one");
    log_.warn("two");
  }
  EXPECT_EQ(warnings_,
            (std::vector<std::string>{"tunedops: one", "tunedops: two"}));
}

// Rows of a hostile file could warn without end.
TEST_F(LogTest, SaysABoundedNumberOfWarnings) {
  for (int i = 0; i < 10000; ++i) {
    log_.warn(std::to_string(i));
  }
  EXPECT_EQ(warnings_.size(), 4096U);
}

TEST_F(LogTest, AHandlerMayWarnAndChangeTheHandler) {
  log_.set_warning_handler([this](const std::string& text) {
    warnings_.push_back(text);
    log_.warn("from within");
    log_.set_warning_handler(nullptr);
  });
  log_.warn("first");
  EXPECT_EQ(warnings_, (std::vector<std::string>{"tunedops: first",
                                                 "tunedops: from within"}));
}

TEST_F(LogTest, WarnsOnStandardErrorWithoutAHandler) {
  log_.set_warning_handler(nullptr);
  testing::internal::CaptureStderr();
  log_.warn("here");
  log_.warn("here");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tunedops: here\n");
}

TEST_F(LogTest, ShowsUpToItsLevel) {
  log_.set_destination(path("log"));
  log_.write(Verbosity::kResults, "silent");
  log_.set_level(2);
  EXPECT_TRUE(log_.shows(Verbosity::kTuning));
  EXPECT_FALSE(log_.shows(Verbosity::kTrace));
  log_.write(Verbosity::kResults, "a result");
  log_.write(Verbosity::kTuning, "a candidate");
  log_.write(Verbosity::kTrace, "a decision");
  EXPECT_EQ(read_text(path("log")), "a result\na candidate\n");
}

TEST_F(LogTest, AppendsToAFile) {
  write_text(path("log"), "earlier\n");
  log_.set_level(1);
  log_.set_destination(path("log"));
  log_.write(Verbosity::kResults, "later");
  EXPECT_EQ(read_text(path("log")), "earlier\nlater\n");
}

TEST_F(LogTest, WritesToTheStandardStreams) {
  log_.set_level(1);
  testing::internal::CaptureStderr();
  log_.set_destination("err");
  log_.write(Verbosity::kResults, "to err");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tunedops: to err\n");
  testing::internal::CaptureStdout();
  log_.set_destination("out");
  log_.write(Verbosity::kResults, "to out");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "tunedops: to out\n");
}

TEST_F(LogTest, FollowsNoLinkAndSaysSo) {
  write_text(path("target"), "precious\n");
  std::filesystem::create_symlink(path("target"), path("log"));
  log_.set_level(1);
  log_.set_destination(path("log"));
  log_.write(Verbosity::kResults, "lost");
  EXPECT_EQ(read_text(path("target")), "precious\n");
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_TRUE(warnings_[0].starts_with(
      "tunedops: cannot write VERBOSE_FILENAME '" + path("log") + "' ("))
      << warnings_[0];

  testing::internal::CaptureStderr();
  log_.write(Verbosity::kResults, "next");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tunedops: next\n");
}

TEST_F(LogTest, AFifoWithoutAReaderDoesNotHang) {
  ASSERT_EQ(::mkfifo(path("log").c_str(), 0600), 0);
  log_.set_level(1);
  log_.set_destination(path("log"));
  log_.write(Verbosity::kResults, "lost");
  EXPECT_EQ(warnings_.size(), 1U);
}

}  // namespace
}  // namespace tunedops
