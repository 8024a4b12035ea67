#include "backends/cpu/cpu_stopwatch.h"

#include <chrono>

namespace tunedops::cpu {

double CpuStopwatch::now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status CpuStopwatch::measure(std::span<const Launch> rotation,
                             std::size_t first, int calls,
                             double& milliseconds) {
  std::size_t next = first % rotation.size();
  const double begin = now_ms();
  for (int call = 0; call < calls; ++call) {
    if (Status status = rotation[next](); !status.is_ok()) {
      return status;
    }
    next = next + 1 == rotation.size() ? 0 : next + 1;
  }
  milliseconds = (now_ms() - begin) / calls;
  return milliseconds > 0 ? Status::ok()
                          : Status::failed("the clock did not advance");
}

}  // namespace tunedops::cpu
