#include "tuning/shared_lines.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tunedops {
namespace {

// More is no list that anybody could use.
constexpr std::int64_t kMaxFile = 64LL << 20;
constexpr std::size_t kMostKept = 10000;

struct SplitPath {
  std::string folder;
  std::string name;
};

SplitPath split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return {".", path};
  }
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// Gives back the lock that a descriptor has.
class Unlocks {
 public:
  explicit Unlocks(int descriptor) : descriptor_(descriptor) {}
  Unlocks(const Unlocks&) = delete;
  Unlocks& operator=(const Unlocks&) = delete;
  ~Unlocks() { (void)::flock(descriptor_, LOCK_UN); }

 private:
  int descriptor_;
};

}  // namespace

SharedLines::SharedLines(std::string path, Identity identity)
    : path_(std::move(path)), identity_(identity), process_(::getpid()) {
  // If there is no such folder yet, it is looked for again later.
  (void)open_folder().is_ok();
}

Status SharedLines::open_folder() {
  folder_ = Descriptor(::open(split_path(path_).folder.c_str(),
                              O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder_.is_open() ? Status::ok() : io_error("cannot write", path_);
}

void SharedLines::forget() {
  read_bytes_ = 0;
  known_.clear();
  unended_.clear();
}

void SharedLines::close() {
  file_ = Descriptor();
  inode_ = 0;
  forget();
}

// O_NONBLOCK: a planted FIFO must not hang the program.
Status SharedLines::open() {
  const std::string name = split_path(path_).name;
  constexpr int kFlags =
      O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  for (const bool is_first : {true, false}) {
    if (!folder_.is_open() || !is_first) {
      if (Status found = open_folder(); !found.is_ok()) {
        return found;
      }
    }
    file_ = Descriptor(::openat(folder_.get(), name.c_str(), kFlags, 0644));
    if (file_.is_open() || errno != ENOENT) {
      break;  // else the folder may be another one now
    }
  }
  struct stat info{};
  if (!file_.is_open() || ::fstat(file_.get(), &info) != 0) {
    return io_error("cannot write", path_);
  }
  if (!S_ISREG(info.st_mode)) {
    file_ = Descriptor();
    return Status::failed("'" + path_ + "' is not a regular file");
  }
  inode_ = info.st_ino;
  return Status::ok();
}

// A lock belongs to whoever has the descriptor, and a parent and its child have
// the same.
void SharedLines::notice_fork() {
  if (process_ != ::getpid()) {
    close();
    process_ = ::getpid();
  }
}

// Learns what the file holds that was not there before, unless it is not the
// one under its name any more.
Status SharedLines::synchronize(bool& is_gone) {
  struct stat info{};
  is_gone = ::fstatat(folder_.get(), split_path(path_).name.c_str(), &info,
                      AT_SYMLINK_NOFOLLOW) != 0 ||
            info.st_ino != inode_;
  if (is_gone) {
    return Status::ok();
  }
  if (info.st_size > kMaxFile) {
    return Status::failed("'" + path_ + "' is larger than 64 MiB");
  }
  if (info.st_size < read_bytes_) {
    forget();
  }
  return read_until(info.st_size);
}

Status SharedLines::read_until(std::int64_t end) {
  while (read_bytes_ < end) {
    std::array<char, 1 << 14> text;
    const auto wanted = std::min<std::int64_t>(end - read_bytes_, text.size());
    const ssize_t count =
        ::pread(file_.get(), text.data(), static_cast<std::size_t>(wanted),
                read_bytes_);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return io_error("cannot read", path_);
    }
    if (count == 0) {
      break;  // it shrank meanwhile
    }
    learn({text.data(), static_cast<std::size_t>(count)});
    read_bytes_ += count;
  }
  return Status::ok();
}

void SharedLines::learn(std::string_view text) {
  const std::size_t searched = unended_.size();
  unended_ += text;
  std::size_t begin = 0;
  for (std::size_t end = unended_.find('\n', searched);
       end != std::string::npos; end = unended_.find('\n', begin)) {
    std::string_view line =
        std::string_view(unended_).substr(begin, end - begin);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    known_.emplace(identity_(line));
    begin = end + 1;
  }
  unended_.erase(0, begin);
}

// A last line without an end may be somebody's own.
bool SharedLines::knows(std::string_view identity) const {
  return known_.contains(std::string(identity)) ||
         (!unended_.empty() && identity_(unended_) == identity);
}

Status SharedLines::add(std::string_view line) {
  notice_fork();
  const std::string_view identity = identity_(line);
  if (knows(identity)) {
    bool is_gone = false;
    if (synchronize(is_gone).is_ok() && !is_gone && knows(identity)) {
      return Status::ok();
    }
  }
  if (kept_.size() < kMostKept) {
    kept_.emplace(line);
  }
  return write_kept();
}

Status SharedLines::write_kept() {
  notice_fork();
  constexpr int kAttempts = 3;  // the file may go before it is locked
  for (int attempt = 0; attempt < kAttempts && !kept_.empty(); ++attempt) {
    if (!file_.is_open()) {
      if (Status opened = open(); !opened.is_ok()) {
        return opened;
      }
    }
    bool is_gone = false;
    if (Status written = append_kept(is_gone); !written.is_ok()) {
      return written;
    }
    if (is_gone) {
      close();
    }
  }
  return kept_.empty()
             ? Status::ok()
             : Status::failed("'" + path_ + "' does not stay where it is");
}

// In one write, under the lock.
Status SharedLines::append_kept(bool& is_gone) {
  Status locked = lock_exclusively(file_.get(), path_,
                                   lock_is_kept_ ? FileLock::kNoPatience
                                                 : FileLock::kPatience);
  lock_is_kept_ = !locked.is_ok();
  if (!locked.is_ok()) {
    return locked;
  }
  const Unlocks unlocks(file_.get());
  if (Status read = synchronize(is_gone); !read.is_ok() || is_gone) {
    return read;
  }
  std::string text;
  for (const std::string& line : kept_) {
    if (!knows(identity_(line))) {
      text += line;
      text += '\n';
    }
  }
  if (!text.empty() && !unended_.empty()) {
    text.insert(0, 1, '\n');
  }
  Status written = write_all(file_.get(), text, path_);
  if (written.is_ok()) {
    kept_.clear();
  }
  return written;
}

}  // namespace tunedops
