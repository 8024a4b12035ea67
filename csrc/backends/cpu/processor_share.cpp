#include "backends/cpu/processor_share.h"

#include <fstream>
#include <system_error>
#include <utility>

namespace tunedops::cpu {
namespace {

constexpr double kEnough = 2e7;  // nanoseconds of both, to say anything

}  // namespace

ProcessorShare::ProcessorShare(std::filesystem::path threads)
    : threads_(std::move(threads)), before_(read()) {}

double ProcessorShare::waited() const {
  Nanoseconds sum;
  for (const auto& [thread, now] : read()) {
    const auto found = before_.find(thread);
    const Nanoseconds before =
        found == before_.end() ? Nanoseconds() : found->second;
    sum.running += now.running - before.running;
    sum.waiting += now.waiting - before.waiting;
  }
  const double all = sum.running + sum.waiting;
  return all >= kEnough ? sum.waiting / all : 0;
}

// A thread may end meanwhile, and the system may not count.
std::map<std::string, ProcessorShare::Nanoseconds>
ProcessorShare::read() const {
  std::map<std::string, Nanoseconds> threads;
  std::error_code error;
  for (const auto& thread :
       std::filesystem::directory_iterator(threads_, error)) {
    std::ifstream file(thread.path() / "schedstat");
    Nanoseconds counted;
    if (file >> counted.running >> counted.waiting) {
      threads[thread.path().filename()] = counted;
    }
  }
  return threads;
}

}  // namespace tunedops::cpu
