#include "tuning/untuned_file.h"

#include <string_view>

#include "tuning/file_io.h"

namespace tunedops {

void UntunedFile::learn(const std::string& path) {
  if (!learned_.insert(path).second) {
    return;
  }
  FileContents contents;
  if (!read_trusted_file(path, contents).is_ok()) {
    return;
  }
  std::string_view rest = contents.text;
  if (!rest.empty() && rest.back() != '\n') {
    unended_.insert(path);
  }
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    recorded_.insert(path + '\n' + std::string(line));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}

void UntunedFile::record(const std::string& path, const KeyText& key,
                         Notices& notices) {
  learn(path);
  std::string line = key.op + ',' + key.params;
  if (!recorded_.insert(path + '\n' + line).second) {
    return;
  }
  if (unended_.erase(path) > 0) {
    line.insert(0, 1, '\n');
  }
  const FileLock lock(path, lock_is_kept_ ? FileLock::kNoPatience
                                          : FileLock::kPatience);
  lock_is_kept_ = !lock.status().is_ok();
  FileStamp stamp = stamp_of(path);
  const Status written = !lock.status().is_ok() ? lock.status()
                         : stamp.exists()
                             ? append_to_file(path, line + '\n', stamp)
                             : replace_file(path, line + '\n', stamp);
  if (!written.is_ok()) {
    notices.push_back("an untuned product is not recorded: " +
                      written.reason());
  }
}

}  // namespace tunedops
