#pragma once

// The few file operations that results need, each safe against the things that
// happen to shared files: half-written contents, two writers, planted links,
// full disks. Every failure is a Status with a reason; nothing here throws or
// waits without a bound.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tuning/descriptor.h"
#include "tuning/status.h"

namespace tunedops {

/// Identity and version of a file's contents, to notice changes by others.
struct FileStamp {
  std::uint64_t inode = 0;
  std::int64_t size = -1;  // -1: there is no file
  std::int64_t modified_ns = 0;

  bool exists() const { return size >= 0; }
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path);

struct FileContents {
  std::string text;
  FileStamp stamp;
};

/// Reads a regular file that only its owner can write and whose owner is us or
/// root. A file that does not exist is empty contents without a stamp.
Status read_trusted_file(const std::string& path, FileContents& contents);

/// The same, whoever can write it.
Status read_file(const std::string& path, FileContents& contents);

/// Makes a folder that only we can enter, and those above it that are not
/// there. One that exists must be ours, and not be writable by others.
Status make_private_folder(const std::string& path);

/// Where a folder lies now, since a program may go elsewhere later; empty stays
/// empty.
std::string absolute_folder(const std::string& folder);

/// Any name as one of a file: `NVIDIA H200` is `nvidia_h200`.
std::string file_name_of(const std::string& name);

/// Replaces the file so that readers see the old or the new text, whole, even
/// after a power cut. Refuses to replace anything but a regular file.
Status replace_file(const std::string& path, std::string_view text,
                    FileStamp& stamp);

/// Appends in a single write to a file that exists.
Status append_to_file(const std::string& path, std::string_view text,
                      FileStamp& stamp);

/// How an operation on a file failed, from errno.
Status io_error(const char* doing, const std::string& path);

Status write_all(int descriptor, std::string_view text,
                 const std::string& path);

/// Locks an open file between processes; waits at most `patience`.
Status lock_exclusively(int descriptor, const std::string& path,
                        std::chrono::milliseconds patience);

/// A lock between processes, on a file of its own beside the one it guards
/// (the guarded one is replaced, which would lose a lock on it).
class FileLock {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};
  static constexpr std::chrono::milliseconds kNoPatience{0};

  /// Waits at most `patience`; see status().
  explicit FileLock(const std::string& guarded_path,
                    std::chrono::milliseconds patience = kPatience);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  const Status& status() const { return status_; }

 private:
  Descriptor file_;  // closing it releases the lock
  Status status_ = Status::ok();
};

/// Splits `folder/stem.extension` where the extension begins; the dot belongs
/// to the extension. A name without one, or a hidden file, is all stem.
struct SplitName {
  std::string stem;
  std::string extension;
};
SplitName split_extension(const std::string& path);

}  // namespace tunedops
