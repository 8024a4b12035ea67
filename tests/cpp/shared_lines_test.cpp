// Lines that several processes append to one file: each once, none lost, and
// what people do to the file meanwhile counts.

#include "tuning/shared_lines.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "fakes.h"

namespace tunedops {
namespace {

std::string_view whole(std::string_view line) { return line; }

class SharedLinesTest : public TempFolderTest {
 protected:
  std::string file() const { return path("list"); }
  std::string text() const { return read_text(file()); }

  static void expect_ok(const Status& status) {
    EXPECT_TRUE(status.is_ok()) << status.reason();
  }

  static void expect_failure(const Status& status, const std::string& part) {
    EXPECT_FALSE(status.is_ok());
    EXPECT_NE(status.reason().find(part), std::string::npos) << status.reason();
  }
};

TEST_F(SharedLinesTest, EachLineIsThereOnce) {
  SharedLines lines(file(), &whole);
  EXPECT_FALSE(exists(file())) << "nothing is made before there is a line";
  for (int i = 0; i < 3; ++i) {
    expect_ok(lines.add("a"));
    expect_ok(lines.add("b"));
  }
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_FALSE(exists(file() + ".lock"));
}

TEST_F(SharedLinesTest, WhatOthersAppendIsKnown) {
  SharedLines first(file(), &whole);
  SharedLines second(file(), &whole);
  expect_ok(first.add("a"));
  expect_ok(second.add("a"));
  expect_ok(second.add("b"));
  expect_ok(first.add("b"));
  expect_ok(first.add("c"));
  write_text(path("more"), "d\n");
  const std::string command = "cat " + path("more") + " >> " + file();
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_ok(second.add("d"));
  expect_ok(first.add("d"));
  EXPECT_EQ(text(), "a\nb\nc\nd\n");
}

TEST_F(SharedLinesTest, ProcessesLoseNothingAndRepeatNothing) {
  constexpr int kProcesses = 4;
  constexpr int kLines = 200;
  SharedLines inherited(file(), &whole);  // open before the fork
  expect_ok(inherited.add("first"));
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < kLines; ++i) {
        // Each line by two of them, and in orders of their own.
        const int line = (process % 2 == 0 ? i : kLines - 1 - i) +
                         (process < 2 ? 0 : kLines);
        failures +=
            inherited.add("line " + std::to_string(line)).is_ok() ? 0 : 1;
      }
      ::_exit(failures == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::vector<std::string> found;
  std::istringstream all(text());
  for (std::string line; std::getline(all, line);) {
    found.push_back(line);
  }
  std::vector<std::string> expected{"first"};
  for (int i = 0; i < 2 * kLines; ++i) {
    expected.push_back("line " + std::to_string(i));
  }
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
}

// The lock belongs to an opening of the file, and a fork shares what is open:
// so does the position in the file, which shows it.
TEST_F(SharedLinesTest, AChildOpensTheFileForItself) {
  const auto descriptor = [this] {
    int found = -1;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code error;
      if (std::filesystem::read_symlink(entry, error) == file()) {
        found = std::stoi(entry.path().filename());
      }
    }
    return found;
  };
  constexpr off_t kElsewhere = 12345;
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("a"));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool added = lines.add("b").is_ok();
    const bool moved =
        ::lseek(descriptor(), kElsewhere, SEEK_SET) == kElsewhere;
    ::_exit(added && moved ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_GE(descriptor(), 0);
  EXPECT_NE(::lseek(descriptor(), 0, SEEK_CUR), kElsewhere);
  EXPECT_EQ(text(), "a\nb\n");
}

TEST_F(SharedLinesTest, AFileThatIsGoneIsMadeAnew) {
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("a"));
  std::filesystem::remove(file());
  expect_ok(lines.add("a"));
  expect_ok(lines.add("b"));
  EXPECT_EQ(text(), "a\nb\n");
}

TEST_F(SharedLinesTest, AFileThatWasMovedAwayIsLeftAlone) {
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("a"));
  std::filesystem::rename(file(), path("kept"));
  expect_ok(lines.add("b"));
  EXPECT_EQ(read_text(path("kept")), "a\n");
  EXPECT_EQ(text(), "b\n");
}

TEST_F(SharedLinesTest, AFileThatWasReplacedIsReadAnew) {
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("a"));
  write_text(path("other"), "b\n");
  std::filesystem::rename(path("other"), file());
  expect_ok(lines.add("b"));
  expect_ok(lines.add("a"));
  EXPECT_EQ(text(), "b\na\n");
}

TEST_F(SharedLinesTest, AFileThatWasCutIsReadAnew) {
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("aaaa"));
  expect_ok(lines.add("b"));
  std::filesystem::resize_file(file(), 5);
  expect_ok(lines.add("aaaa"));
  expect_ok(lines.add("b"));
  EXPECT_EQ(text(), "aaaa\nb\n");
}

TEST_F(SharedLinesTest, AHalfLineIsEndedAndNotJoined) {
  write_text(file(), "a\nhal");
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("half"));
  expect_ok(lines.add("a"));
  EXPECT_EQ(text(), "a\nhal\nhalf\n");
}

TEST_F(SharedLinesTest, ALongFileIsReadInPieces) {
  std::string all;
  for (int i = 0; i < 20000; ++i) {
    all += "line " + std::to_string(i) + '\n';
  }
  write_text(file(), all);
  SharedLines lines(file(), &whole);
  expect_ok(lines.add("new"));
  for (const int i : {0, 1777, 9999, 19999}) {
    expect_ok(lines.add("line " + std::to_string(i)));
  }
  EXPECT_EQ(text(), all + "new\n");
}

TEST_F(SharedLinesTest, StaysWhereItBegan) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path(""));
  SharedLines lines("list", &whole);
  expect_ok(lines.add("a"));
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::current_path(path("elsewhere"));
  expect_ok(lines.add("b"));
  std::filesystem::current_path(before);
  EXPECT_EQ(text(), "a\nb\n");
  EXPECT_FALSE(exists(path("elsewhere/list")));
}

TEST_F(SharedLinesTest, WhatCannotBeWrittenIsKept) {
  SharedLines lines(path("later/list"), &whole);
  expect_failure(lines.add("a"), "No such file or directory");
  expect_failure(lines.add("b"), "No such file or directory");
  std::filesystem::create_directory(path("later"));
  expect_ok(lines.write_kept());
  EXPECT_EQ(read_text(path("later/list")), "a\nb\n");
  std::filesystem::remove_all(path("later"));
  expect_failure(lines.add("c"), "No such file or directory");
  std::filesystem::create_directory(path("later"));
  expect_ok(lines.add("d"));
  EXPECT_EQ(read_text(path("later/list")), "c\nd\n");
}

TEST_F(SharedLinesTest, WhoeverKeepsTheLockIsWaitedForOnce) {
  write_text(file(), "");
  const Descriptor other(::open(file().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  SharedLines lines(file(), &whole);
  expect_failure(lines.add("a"), "another process holds");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    expect_failure(lines.add("b"), "another process holds");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 50 * FileLock::kPatience)
      << "only the first waits";
  ASSERT_EQ(::flock(other.get(), LOCK_UN), 0);
  expect_ok(lines.add("c"));
  EXPECT_EQ(text(), "a\nb\nc\n");
  // It was given back.
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(SharedLinesTest, RefusesWhatIsNoPlainFile) {
  std::filesystem::create_directory(path("folder"));
  expect_failure(SharedLines(path("folder"), &whole).add("a"), "folder");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_failure(SharedLines(path("pipe"), &whole).add("a"),
                 "is not a regular file");
  write_text(path("target"), "precious\n");
  std::filesystem::create_symlink(path("target"), path("link"));
  expect_failure(SharedLines(path("link"), &whole).add("a"), "link");
  EXPECT_EQ(read_text(path("target")), "precious\n");
}

TEST_F(SharedLinesTest, RefusesWhatIsHuge) {
  write_text(file(), "");
  std::filesystem::resize_file(file(), (64U << 20) + 1);
  expect_failure(SharedLines(file(), &whole).add("a"), "larger than 64 MiB");
  EXPECT_EQ(std::filesystem::file_size(file()), (64U << 20) + 1);
}

}  // namespace
}  // namespace tunedops
