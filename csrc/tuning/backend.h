#pragma once

// What the core needs from a kind of device: facts, memory for tuning, a
// stopwatch and an answer to "may I tune now?". One implementation per
// DeviceType lives in backends/.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tuning/device.h"
#include "tuning/operand_memory.h"
#include "tuning/stopwatch.h"
#include "tuning/validators.h"

namespace tunedops {

/// Device memory owned by the tuner; freed when it goes out of scope.
using DeviceMemory = std::unique_ptr<void, std::function<void(void*)>>;

/// Held while a thread tunes; a backend that must change thread or device
/// state meanwhile restores it when this goes out of scope.
class TuningScope {
 public:
  explicit TuningScope(Stream stream) : stream_(stream) {}
  TuningScope(const TuningScope&) = delete;
  TuningScope& operator=(const TuningScope&) = delete;
  virtual ~TuningScope() = default;

  /// The stream to tune on: the caller's own, or one that waits for it.
  Stream stream() const { return stream_; }

 protected:
  Stream stream_;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// For people: `AMD EPYC 9B45 (avx512_bf16)`, `NVIDIA H200`.
  virtual std::string device_name(Device device) const = 0;

  /// What distinguishes this device's results file: the ordinal, `_cpu`.
  virtual std::string file_tag(Device device) const = 0;

  /// The environment that results of this device depend on; the same set
  /// whatever ops have run.
  virtual Validators validators(Device device) const = 0;

  /// Bytes that a buffer rotation must exceed to come from memory.
  virtual std::size_t cache_bytes(Device device) const = 0;

  /// Bytes that tuning may take: a share of what is free now.
  virtual std::size_t tuning_memory_bytes(Device device) const = 0;

  /// Aligned to 512 bytes, as torch's allocators align; null if there is not
  /// enough.
  virtual DeviceMemory allocate(Device device, std::size_t bytes) const = 0;

  /// Fills and inspects what allocate() gave, on `stream`; null if there is
  /// not enough memory for its own needs.
  virtual std::unique_ptr<OperandMemory>
  make_operand_memory(Device device, Stream stream) const = 0;

  /// `in_graphs`: as a program feels calls that it runs from graphs, where the
  /// backend has such a thing.
  virtual std::unique_ptr<Stopwatch>
  make_stopwatch(Device device, Stream stream, bool in_graphs) const = 0;

  /// A steady wall clock, for what tuning costs a program.
  virtual double now_ms() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Which day it is, for the date of a result.
  virtual std::chrono::system_clock::time_point calendar_time() const {
    return std::chrono::system_clock::now();
  }

  /// Unsupported with a reason while measuring would be wrong or harmful
  /// (stream capture, a forked child).
  virtual Status may_tune(Device device, Stream stream) const = 0;
  virtual std::unique_ptr<TuningScope> enter_tuning(Device device,
                                                    Stream stream) const {
    (void)device;
    return std::make_unique<TuningScope>(stream);
  }
};

}  // namespace tunedops
