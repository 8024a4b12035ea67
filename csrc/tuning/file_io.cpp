#include "tuning/file_io.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

namespace tunedops {
namespace {

constexpr std::int64_t kMaxFile = 64LL << 20;

FileStamp stamp_from(const struct stat& info) {
  return {.inode = info.st_ino,
          .size = info.st_size,
          .modified_ns =
              info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec};
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status check_kind(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) {
    return Status::failed("'" + path + "' is not a regular file");
  }
  return info.st_size > kMaxFile
             ? Status::failed("'" + path + "' is larger than 64 MiB")
             : Status::ok();
}

Status check_trust(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return Status::failed("'" + path + "' belongs to another user");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Status::failed("'" + path +
                          "' can be written by others (chmod go-w it)");
  }
  return Status::ok();
}

// Creates a file beside `path` under a name that neither another process nor
// another thread of this one picks. A process that was killed leaves its own
// behind, and in a container the next one has the same id: such names are
// passed over.
int create_temporary(const std::string& path, mode_t mode, std::string& name) {
  static std::atomic<unsigned> counter{0};
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = path + ".tmp." + std::to_string(::getpid()) + "." +
           std::to_string(counter.fetch_add(1));
    const int file =
        ::open(name.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) {
      return file;
    }
  }
  return -1;
}

}  // namespace

Status io_error(const char* doing, const std::string& path) {
  return Status::failed(std::string(doing) + " '" + path +
                        "': " + std::strerror(errno));
}

Status write_all(int descriptor, std::string_view text,
                 const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return io_error("cannot write", path);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Status::ok();
}

FileStamp stamp_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? stamp_from(info) : FileStamp{};
}

namespace {

Status read_whole(const std::string& path, FileContents& contents,
                  bool must_be_trusted) {
  contents = {};
  // O_NONBLOCK: a planted FIFO must not hang the program.
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    return errno == ENOENT ? Status::ok() : io_error("cannot read", path);
  }
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    return io_error("cannot read", path);
  }
  Status checked = check_kind(info, path);
  if (checked.is_ok() && must_be_trusted) {
    checked = check_trust(info, path);
  }
  if (!checked.is_ok()) {
    return checked;
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count =
        ::read(file.get(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return io_error("cannot read", path);
    }
    if (count == 0) {
      break;  // it shrank meanwhile
    }
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  contents = {std::move(text), stamp_from(info)};
  return Status::ok();
}

}  // namespace

Status read_trusted_file(const std::string& path, FileContents& contents) {
  return read_whole(path, contents, /*must_be_trusted=*/true);
}

Status read_file(const std::string& path, FileContents& contents) {
  return read_whole(path, contents, /*must_be_trusted=*/false);
}

Status make_private_folder(const std::string& path) {
  std::error_code error;
  const auto above = std::filesystem::path(path).parent_path();
  if (!above.empty()) {
    std::filesystem::create_directories(above, error);
    if (error) {
      return Status::failed("cannot make the folder '" + above.string() +
                            "': " + error.message());
    }
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return io_error("cannot make the folder", path);
  }
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return io_error("cannot use the folder", path);
  }
  return S_ISDIR(info.st_mode)
             ? check_trust(info, path)
             : Status::failed("'" + path + "' is not a folder");
}

std::string absolute_folder(const std::string& folder) {
  std::error_code error;
  const auto place = std::filesystem::absolute(folder, error);
  return folder.empty() || error ? folder : place.string();
}

std::string file_name_of(const std::string& given) {
  std::string name;
  for (const char c : given) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_upper || is_plain) {
      name += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) {
    name.pop_back();
  }
  return name.empty() ? "unnamed" : name;
}

Status replace_file(const std::string& path, std::string_view text,
                    FileStamp& stamp) {
  struct stat existing{};
  mode_t mode = 0644;
  if (::lstat(path.c_str(), &existing) == 0) {
    if (!S_ISREG(existing.st_mode)) {
      return Status::failed("'" + path +
                            "' is not a regular file, so it is not replaced "
                            "(of a link, name the target)");
    }
    mode = existing.st_mode & 07777;
  }
  std::string temporary;
  struct stat info{};
  {
    const Descriptor file(create_temporary(path, mode, temporary));
    if (!file.is_open()) {
      return io_error("cannot write", path);
    }
    Status written = write_all(file.get(), text, path);
    if (written.is_ok() &&
        (::fsync(file.get()) != 0 || ::fstat(file.get(), &info) != 0)) {
      written = io_error("cannot write", path);
    }
    if (!written.is_ok()) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Status failed = io_error("cannot replace", path);
    ::unlink(temporary.c_str());
    return failed;
  }
  stamp = stamp_from(info);
  const Descriptor folder(
      ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) {
    // Some file systems cannot sync a folder; the contents are safe already.
    (void)::fsync(folder.get());
  }
  return Status::ok();
}

Status append_to_file(const std::string& path, std::string_view text,
                      FileStamp& stamp) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW |
                                                 O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    return io_error("cannot append to", path);
  }
  if (Status written = write_all(file.get(), text, path); !written.is_ok()) {
    return written;
  }
  struct stat info{};
  if (::fstat(file.get(), &info) == 0) {
    stamp = stamp_from(info);
  }
  return Status::ok();
}

Status lock_exclusively(int descriptor, const std::string& path,
                        std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return io_error("cannot lock", path);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return Status::failed("another process holds '" + path + "'");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return Status::ok();
}

FileLock::FileLock(const std::string& guarded_path,
                   std::chrono::milliseconds patience) {
  const std::string path = guarded_path + ".lock";
  file_ = Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  status_ = file_.is_open() ? lock_exclusively(file_.get(), path, patience)
                            : io_error("cannot lock", path);
}

SplitName split_extension(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name) {
    return {path, {}};
  }
  return {path.substr(0, dot), path.substr(dot)};
}

}  // namespace tunedops
