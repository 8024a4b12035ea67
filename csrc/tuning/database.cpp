#include "tuning/database.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "tuning/file_io.h"

namespace tunedops {
namespace {

// Nothing if the folder is not there, as for most devices.
std::vector<std::string> results_files_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".csv") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

void Database::set_folder(const std::string& folder) {
  if (folder == given_) {
    return;
  }
  given_ = folder;
  rows_.clear();
  folder_ = absolute_folder(folder);
}

void Database::open(Device device, const std::string& device_name,
                    const Validators& here, Notices& notices) {
  Rows& rows = rows_[device];
  if (folder_.empty()) {
    return;
  }
  for (const std::string& path :
       results_files_in(folder_ + '/' + file_name_of(device_name))) {
    read(path, here, rows, notices);
  }
}

// Trusted as the code beside it is, whoever installed both.
void Database::read(const std::string& path, const Validators& here, Rows& rows,
                    Notices& notices) {
  FileContents contents;
  if (const Status read = read_file(path, contents); !read.is_ok()) {
    notices.push_back("a database is not used: " + read.reason());
    return;
  }
  CsvDocument document = parse_results(contents.text);
  const auto validators =
      std::make_shared<const Validators>(std::move(document.validators));
  // One folder may serve variants of a device, with a file for each.
  if (validators->value("DEVICE") != here.value("DEVICE")) {
    return;
  }
  report_complaints(path, document, notices);
  for (CsvRow& row : document.rows) {
    const KeyText key = row.key;
    rows[key] = {std::move(row), path, validators};
  }
}

const Database::Row* Database::find(Device device, const KeyText& key) const {
  const auto opened = rows_.find(device);
  if (opened == rows_.end()) {
    return nullptr;
  }
  const auto found = opened->second.find(key);
  return found == opened->second.end() ? nullptr : &found->second;
}

}  // namespace tunedops
