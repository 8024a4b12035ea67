// The lock between processes that write one file: exclusive, never waited for
// without a bound, and gone with the process that held it.

#include <chrono>

#include "fakes.h"
#include "tuning/file_io.h"

namespace tunedops {
namespace {

class FileLockTest : public TempFolderTest {
 protected:
  std::string csv() const { return path("file.csv"); }

  static void expect_failure(const Status& status, const std::string& part) {
    EXPECT_EQ(status.code(), Status::Code::kFailed);
    EXPECT_NE(status.reason().find(part), std::string::npos) << status.reason();
  }
};

TEST_F(FileLockTest, TheLockExcludesOthersForABoundedTime) {
  const std::string lock_path = csv() + ".lock";
  {
    const FileLock first(csv());
    ASSERT_TRUE(first.status().is_ok()) << first.status().reason();
    const FileLock second(csv(), std::chrono::milliseconds(10));
    expect_failure(second.status(), "another process holds '" + lock_path);
    const FileLock other(path("other.csv"), std::chrono::milliseconds(0));
    EXPECT_TRUE(other.status().is_ok()) << "files have locks of their own";
  }
  const FileLock third(csv(), std::chrono::milliseconds(0));
  EXPECT_TRUE(third.status().is_ok()) << "the lock is gone with its holder";
}

// The lock of a process that died is nobody's.
TEST_F(FileLockTest, AStaleLockFileLocksNothing) {
  write_text(csv() + ".lock", "");
  const FileLock lock(csv(), std::chrono::milliseconds(0));
  EXPECT_TRUE(lock.status().is_ok());
}

TEST_F(FileLockTest, ALockThatCannotBeMadeIsAReason) {
  write_text(path("precious"), "precious");
  std::filesystem::create_symlink(path("precious"), csv() + ".lock");
  expect_failure(FileLock(csv()).status(), "cannot lock");
  expect_failure(FileLock(path("missing/file")).status(), "cannot lock");
  EXPECT_EQ(read_text(path("precious")), "precious");
}

}  // namespace
}  // namespace tunedops
