// Files shared with people, other processes and enemies: a reader never sees
// half a file, nothing follows a planted link or waits on a planted pipe, and
// every failure is a reason and not an exception.

#include "tuning/file_io.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "fakes.h"

namespace tunedops {
namespace {

class FileIoTest : public TempFolderTest {
 protected:
  std::string target() const { return path("file.csv"); }

  static mode_t mode_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  // The names in the folder, sorted, to see that nothing is left behind.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(path("."))) {
      all.push_back(entry.path().filename());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // The first name that appears in the folder meanwhile.
  std::string created_during(const std::function<void()>& action) const {
    const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    EXPECT_GE(::inotify_add_watch(watch, path(".").c_str(), IN_CREATE), 0);
    action();
    alignas(inotify_event) char buffer[4096] = {};
    EXPECT_GT(::read(watch, buffer, sizeof(buffer)), 0);
    ::close(watch);
    return reinterpret_cast<const inotify_event*>(buffer)->name;
  }

  static void expect_reason(const Status& status, const std::string& part) {
    EXPECT_EQ(status.code(), Status::Code::kFailed);
    EXPECT_NE(status.reason().find(part), std::string::npos) << status.reason();
  }
};

TEST_F(FileIoTest, ReadsAFileWhole) {
  const std::string text = std::string("a\0b\n", 4) + std::string(100000, 'x');
  write_text(target(), text);
  FileContents contents;
  ASSERT_TRUE(read_trusted_file(target(), contents).is_ok());
  EXPECT_EQ(contents.text, text);
  EXPECT_EQ(contents.stamp, stamp_of(target()));
  EXPECT_TRUE(contents.stamp.exists());
}

TEST_F(FileIoTest, AMissingFileIsEmptyAndNoError) {
  FileContents contents{"old", {}};
  ASSERT_TRUE(read_trusted_file(target(), contents).is_ok());
  EXPECT_EQ(contents.text, "");
  EXPECT_FALSE(contents.stamp.exists());
  EXPECT_FALSE(stamp_of(target()).exists());
}

TEST_F(FileIoTest, ReadsNothingThatOthersCanWrite) {
  write_text(target(), "text");
  for (const mode_t mode : {0620, 0602, 0666, 0777}) {
    ASSERT_EQ(::chmod(target().c_str(), mode), 0);
    FileContents contents;
    expect_reason(read_trusted_file(target(), contents),
                  "'" + target() + "' can be written by others");
    EXPECT_EQ(contents.text, "");
  }
  for (const mode_t mode : {0600, 0644, 0400, 0755}) {
    ASSERT_EQ(::chmod(target().c_str(), mode), 0);
    FileContents contents;
    EXPECT_TRUE(read_trusted_file(target(), contents).is_ok());
    EXPECT_EQ(contents.text, "text");
  }
}

TEST_F(FileIoTest, ReadsNothingThatBelongsToOthers) {
  write_text(target(), "text");
  if (::chown(target().c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  FileContents contents;
  expect_reason(read_trusted_file(target(), contents),
                "belongs to another user");
}

TEST_F(FileIoTest, ReadsNothingButRegularFiles) {
  FileContents contents;
  expect_reason(read_trusted_file(path("."), contents),
                "is not a regular file");
  expect_reason(read_trusted_file("/dev/zero", contents),
                "is not a regular file");
  ASSERT_EQ(::mkfifo(target().c_str(), 0600), 0);
  expect_reason(read_trusted_file(target(), contents), "is not a regular file");
}

TEST_F(FileIoTest, ReadsNothingHuge) {
  write_text(target(), "");
  std::filesystem::resize_file(target(), (64U << 20) + 1);  // sparse
  FileContents contents;
  expect_reason(read_trusted_file(target(), contents), "larger than 64 MiB");
}

TEST_F(FileIoTest, ReplacesAndLeavesNothingBehind) {
  FileStamp stamp;
  ASSERT_TRUE(replace_file(target(), "first", stamp).is_ok());
  EXPECT_EQ(read_text(target()), "first");
  EXPECT_EQ(stamp, stamp_of(target()));
  ASSERT_TRUE(replace_file(target(), "second", stamp).is_ok());
  EXPECT_EQ(read_text(target()), "second");
  EXPECT_EQ(stamp, stamp_of(target()));
  EXPECT_EQ(names(), std::vector<std::string>{"file.csv"});
}

// Whoever has the old file open keeps reading the old text.
TEST_F(FileIoTest, ReplacesByRenaming) {
  write_text(target(), "old text");
  const FileStamp old_stamp = stamp_of(target());
  std::ifstream reader(target());
  FileStamp stamp;
  ASSERT_TRUE(replace_file(target(), "new", stamp).is_ok());
  std::string seen;
  std::getline(reader, seen);
  EXPECT_EQ(seen, "old text");
  EXPECT_NE(stamp.inode, old_stamp.inode);
}

TEST_F(FileIoTest, KeepsTheModeAndHonoursTheUmask) {
  FileStamp stamp;
  const mode_t before = ::umask(027);
  ASSERT_TRUE(replace_file(target(), "text", stamp).is_ok());
  EXPECT_EQ(mode_of(target()), 0640U);
  ::umask(before);
  ASSERT_EQ(::chmod(target().c_str(), 0600), 0);
  ASSERT_TRUE(replace_file(target(), "text", stamp).is_ok());
  EXPECT_EQ(mode_of(target()), 0600U);
}

TEST_F(FileIoTest, ReplacesNoLink) {
  write_text(path("precious"), "precious");
  std::filesystem::create_symlink(path("precious"), target());
  FileStamp stamp;
  expect_reason(replace_file(target(), "text", stamp),
                "is not a regular file, so it is not replaced");
  EXPECT_EQ(read_text(path("precious")), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(target()));
  expect_reason(replace_file(path("."), "text", stamp),
                "is not a regular file");
}

TEST_F(FileIoTest, AFailedReplacementLeavesTheOldFile) {
  write_text(target(), "old");
  FileStamp stamp;
  expect_reason(replace_file(target() + "/inside", "new", stamp),
                "cannot write");
  expect_reason(replace_file(path("missing/file"), "new", stamp),
                "No such file or directory");
  expect_reason(replace_file("/proc/tunedops.csv", "new", stamp),
                "cannot write '/proc/tunedops.csv'");
  EXPECT_EQ(read_text(target()), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"file.csv"});
  EXPECT_FALSE(stamp.exists());
}

// A process that was killed while it wrote leaves its temporary file. In a
// container the next one has the same process id.
TEST_F(FileIoTest, IsNotStoppedByWhatAKilledProcessLeft) {
  FileStamp stamp;
  std::string name = created_during(
      [&] { ASSERT_TRUE(replace_file(target(), "old", stamp).is_ok()); });
  const std::size_t dot = name.rfind('.');
  ASSERT_NE(dot, std::string::npos) << name;
  const int last = std::stoi(name.substr(dot + 1));
  name.resize(dot + 1);
  for (int i = 1; i <= 50; ++i) {
    write_text(path(name + std::to_string(last + i)), "half a fi");
  }
  const Status status = replace_file(target(), "text", stamp);
  ASSERT_TRUE(status.is_ok()) << status.reason();
  EXPECT_EQ(read_text(target()), "text");
}

TEST_F(FileIoTest, AppendsToAFileThatExists) {
  FileStamp stamp;
  expect_reason(append_to_file(target(), "text", stamp), "cannot append to");
  EXPECT_FALSE(exists(target()));
  write_text(target(), "one\n");
  const FileStamp before = stamp_of(target());
  ASSERT_TRUE(append_to_file(target(), "two\n", stamp).is_ok());
  EXPECT_EQ(read_text(target()), "one\ntwo\n");
  EXPECT_EQ(stamp, stamp_of(target()));
  EXPECT_EQ(stamp.inode, before.inode);
}

TEST_F(FileIoTest, AppendsToNoLinkAndNoPipe) {
  write_text(path("precious"), "precious");
  std::filesystem::create_symlink(path("precious"), target());
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  FileStamp stamp;
  expect_reason(append_to_file(target(), "text", stamp), "cannot append to");
  expect_reason(append_to_file(path("pipe"), "text", stamp),
                "cannot append to");
  EXPECT_EQ(read_text(path("precious")), "precious");
}

TEST_F(FileIoTest, AChangeChangesTheStamp) {
  write_text(target(), "one");
  const FileStamp before = stamp_of(target());
  EXPECT_EQ(stamp_of(target()), before);
  write_text(target(), "longer");
  EXPECT_NE(stamp_of(target()), before);
}

TEST(SplitExtension, FindsTheLastDotOfTheName) {
  const auto split = [](const std::string& path) {
    const SplitName name = split_extension(path);
    return name.stem + '|' + name.extension;
  };
  EXPECT_EQ(split("results.csv"), "results|.csv");
  EXPECT_EQ(split("a.b/results.tar.gz"), "a.b/results.tar|.gz");
  EXPECT_EQ(split("a.b/results"), "a.b/results|");
  EXPECT_EQ(split("results"), "results|");
  EXPECT_EQ(split(".hidden"), ".hidden|");
  EXPECT_EQ(split("a/.hidden"), "a/.hidden|");
  EXPECT_EQ(split("a/.hidden.csv"), "a/.hidden|.csv");
  EXPECT_EQ(split("results."), "results|.");
  EXPECT_EQ(split(""), "|");
}

}  // namespace
}  // namespace tunedops
