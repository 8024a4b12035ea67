#include "backends/cpu/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>

namespace tunedops::cpu {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// The text behind the colon of the first line that begins with `key`.
std::string field_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string machine_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.machine : "unknown";
}

}  // namespace

std::string processor_name() {
  static const std::string name = [] {
    std::string text = field_of("/proc/cpuinfo", "model name");
    if (text.empty()) {
      text = machine_name();  // Arm's cpuinfo has no model name
    }
    std::replace_if(
        text.begin(), text.end(),
        [](unsigned char c) { return c < 0x20 || c == ',' || c == ':'; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }();
  return name;
}

// A cache that several processors share is there once. What sysconf says of a
// virtual machine may be what the whole host has.
std::size_t last_cache_bytes(const std::filesystem::path& processors) {
  std::error_code error;  // a system without it has no such folder
  int last_level = 0;
  std::map<std::string, std::size_t> caches;  // by who shares them
  for (int processor = 0;; ++processor) {
    const auto folder =
        processors / ("cpu" + std::to_string(processor)) / "cache";
    if (!std::filesystem::is_directory(folder, error)) {
      break;
    }
    for (const auto& entry :
         std::filesystem::directory_iterator(folder, error)) {
      const int level = std::atoi(first_line(entry.path() / "level").c_str());
      const std::string size = first_line(entry.path() / "size");
      const std::size_t bytes =
          std::strtoul(size.c_str(), nullptr, 10) *
          (size.ends_with('K') ? 1024 : (size.ends_with('M') ? kMiB : 1));
      if (level > last_level) {
        last_level = level;
        caches.clear();
      }
      if (level == last_level && level > 1) {
        caches[first_line(entry.path() / "shared_cpu_list")] = bytes;
      }
    }
  }
  std::size_t sum = 0;
  for (const auto& [sharers, bytes] : caches) {
    sum += bytes;
  }
  return sum;
}

std::size_t last_cache_bytes() {
  static const std::size_t told = last_cache_bytes("/sys/devices/system/cpu");
  if (told > 0) {
    return told;
  }
  long bytes = -1;
#ifdef _SC_LEVEL3_CACHE_SIZE
  bytes = std::max(::sysconf(_SC_LEVEL3_CACHE_SIZE),
                   ::sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 32 * kMiB;
}

std::size_t available_memory_bytes() {
  const std::string text = field_of("/proc/meminfo", "MemAvailable");
  const long kibibytes = text.empty() ? 0 : std::atol(text.c_str());
  return kibibytes > 0 ? static_cast<std::size_t>(kibibytes) * 1024
                       : 1024 * kMiB;
}

}  // namespace tunedops::cpu
