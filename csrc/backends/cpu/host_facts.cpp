#include "backends/cpu/host_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

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

std::size_t last_cache_bytes() {
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
