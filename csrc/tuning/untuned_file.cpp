#include "tuning/untuned_file.h"

#include <string_view>

namespace tunedops {
namespace {

// TunableOp may write more fields, and a results file may serve as a list.
std::string_view key_of(std::string_view line) {
  const std::size_t first = line.find(',');
  return first == std::string_view::npos
             ? line
             : line.substr(0, line.find(',', first + 1));
}

void report(const Status& written, Notices& notices) {
  if (!written.is_ok()) {
    notices.push_back("an untuned product is not recorded: " +
                      written.reason());
  }
}

}  // namespace

void UntunedFile::record(const std::string& path, const KeyText& key,
                         Notices& notices) {
  const auto [file, is_new] = files_.try_emplace(path, path, &key_of);
  report(file->second.add(key.op + ',' + key.params), notices);
}

void UntunedFile::write_kept(Notices& notices) {
  for (auto& [path, file] : files_) {
    report(file.write_kept(), notices);
  }
}

}  // namespace tunedops
