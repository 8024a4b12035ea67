#include "tuning/personal_cache.h"

#include <filesystem>
#include <utility>

#include "tuning/file_io.h"

namespace tunedops {

void PersonalCache::set_folder(const std::string& folder) {
  if (folder == given_) {
    return;
  }
  given_ = folder;
  files_.clear();
  folder_ = absolute_folder(folder);
}

std::string PersonalCache::path(const std::string& device_name,
                                const Validators& validators) const {
  return folder_ + '/' + file_name_of(device_name) + '.' + validators.digest() +
         ".csv";
}

const ResultsFile* PersonalCache::find(Device device) const {
  const auto found = files_.find(device);
  return found == files_.end() ? nullptr : found->second.get();
}

const ResultsFile& PersonalCache::open(Device device,
                                       const std::string& device_name,
                                       const Validators& validators,
                                       Notices& notices) {
  auto& file = files_[device];
  if (file == nullptr) {
    file = std::make_unique<ResultsFile>(path(device_name, validators),
                                         validators);
    // A home that we may not look into has no cache: no word of it.
    if (!folder_.empty() && stamp_of(file->path()).exists()) {
      file->load(notices, /*exact=*/true);
    }
  }
  return *file;
}

Status PersonalCache::save(const std::string& path,
                           const Validators& validators,
                           std::vector<CsvRow> rows, Notices& notices) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (Status made = make_private_folder(folder); !made.is_ok()) {
    return made;
  }
  ResultsFile file(path, validators);
  const bool is_read = file.load(notices, /*exact=*/true);
  if (!is_read || file.active_path() != path) {
    const std::string reason =
        notices.empty() ? "'" + path + "' is no results file" : notices.back();
    notices.clear();
    return Status::failed(reason + "; delete it to begin anew");
  }
  for (CsvRow& row : rows) {
    file.put(std::move(row), /*persist=*/false, notices);
  }
  if (!file.save(notices)) {
    const std::string reason =
        notices.empty() ? "the file cannot be written" : notices.back();
    notices.clear();
    return Status::failed(reason);
  }
  return Status::ok();
}

}  // namespace tunedops
