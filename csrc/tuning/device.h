#pragma once

// Names one device of the process. The core only tells devices apart; what a
// device can do is the business of its Backend.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tunedops {

enum class DeviceType : std::uint8_t { kCpu = 0, kCuda = 1 };
inline constexpr std::size_t kDeviceTypes = 2;

struct Device {
  DeviceType type = DeviceType::kCpu;
  std::int16_t index = 0;

  auto operator<=>(const Device&) const = default;
};

/// A stream of the device's runtime as an opaque handle; null on the CPU.
struct Stream {
  void* handle = nullptr;
};

}  // namespace tunedops
