#include "tuning/results_store.h"

namespace tunedops {

std::string insert_device_tag(const std::string& name, const std::string& tag) {
  const std::size_t place = name.find("%d");
  if (place != std::string::npos) {
    return name.substr(0, place) + tag + name.substr(place + 2);
  }
  const SplitName split = split_extension(name);
  return split.stem + tag + split.extension;
}

void ResultsStore::set_filename(const std::string& name, bool insert_tag) {
  // What this process won goes along to the new file; what it read does not.
  for (const auto& [device, file] : files_) {
    for (const auto& [key, row] : file->rows()) {
      if (row.won_here) {
        carried_[device].push_back(row);
      }
    }
  }
  files_.clear();
  exact_.clear();
  name_ = name;
  insert_tag_ = insert_tag;
}

std::string ResultsStore::path_for(Device device, const std::string& tag,
                                   Notices& notices) {
  if (insert_tag_ || name_.find("%d") != std::string::npos) {
    return insert_device_tag(name_, tag);
  }
  if (exact_.empty() || exact_.contains(device)) {
    exact_[device] = name_;
    return name_;
  }
  const std::string path = insert_device_tag(name_, tag);
  notices.push_back("results file '" + name_ +
                    "' serves the device that used it first; another one "
                    "takes '" +
                    path + "' (put %d into the name to choose)");
  return path;
}

void ResultsStore::clear() {
  for (const auto& [device, file] : files_) {
    file->clear();
  }
  carried_.clear();
}

ResultsFile* ResultsStore::find(Device device) {
  const auto found = files_.find(device);
  return found == files_.end() ? nullptr : found->second.get();
}

ResultsFile& ResultsStore::open(Device device, const std::string& tag,
                                const Validators& validators,
                                Notices& notices) {
  auto& file = files_[device];
  if (file == nullptr) {
    file = std::make_unique<ResultsFile>(path_for(device, tag, notices),
                                         validators);
    file->load(notices);
    for (CsvRow& row : carried_[device]) {
      if (file->find(row.key) == nullptr) {
        file->put(std::move(row), false, notices);
      }
    }
    carried_.erase(device);
  }
  return *file;
}

}  // namespace tunedops
