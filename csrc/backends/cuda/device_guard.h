#pragma once

// Makes a device the thread's current one, and the earlier one again at the
// end: unless that has no context yet. Making it current would create one,
// which takes memory on a device that the program does not use.

namespace tunedops::cuda {

class DeviceGuard {
 public:
  explicit DeviceGuard(int index);
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard();

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace tunedops::cuda
