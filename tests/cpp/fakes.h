#pragma once

// A device that exists only in tests: its clock advances by what fake kernels
// say they cost, its memory is the heap, and every fact about it can be set. So
// the whole core runs without sleeping and its decisions are known beforehand.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tuning/backend.h"
#include "tuning/host_memory.h"

namespace tunedops {

class FakeClock {
 public:
  double now_ms() const { return now_ms_.load(); }
  void advance(double milliseconds) { now_ms_.fetch_add(milliseconds); }

 private:
  std::atomic<double> now_ms_{0};
};

/// What a FakeBackend tells and remembers. Tests hold it and change it.
struct FakeDevice {
  FakeClock clock;
  std::string name = "fake";
  Validators validators;
  std::map<Device, std::string> tags{{Device{}, "_cpu"}};
  std::size_t cache_bytes = 0;  // 0: one copy of a problem is enough
  std::size_t memory_bytes = std::size_t{64} << 20;
  bool out_of_memory = false;
  double allocating_ms = 0;  // each time
  double waited_share = 0;   // of the processors
  bool sees_single_runs = false;
  Status may_tune = Status::ok();
  std::function<void()> when_asked;  // whether it may be tuned on
  Stream tuning_stream;              // if not null, what is tuned on
  double resolution_ms = 0;
  // Noon of the last of January 2030.
  std::chrono::system_clock::time_point calendar_time =
      std::chrono::sys_days{std::chrono::year{2030} / 1 / 31} +
      std::chrono::hours(12);
  double noise = 0;          // standard deviation of the logarithm of a reading
  int disturbed = 0;         // one reading in so many is longer; 0: none
  double disturbance = 1.5;  // so many times as long
  double warming = 0;        // by which share runs get longer in a second
  double swing = 0;          // and by which share they do so back and forth,
  double swing_ms = 60;      // in so long
  unsigned seed = 1;         // of the noise
  double settling_ms = 0;    // of its clocks
  double worked_ms = 0;      // without the pause that a glance is
  std::atomic<int> scopes{0};             // entered so far
  std::atomic<int> open_scopes{0};        // entered and not left
  std::atomic<std::size_t> allocated{0};  // bytes held now
  std::atomic<std::size_t> most_allocated{0};
  std::atomic<void*> last_stream{nullptr};  // that a kernel ran on
  std::atomic<int> plans{0};                // made so far

  FakeDevice() {
    validators.add("TUNEDOPS_KERNELS", "1");
    validators.add("DEVICE", "fake");
  }
};

/// The plan that this thread ran last, by its number.
inline thread_local int last_plan = 0;

class FakeStopwatch final : public Stopwatch {
 public:
  explicit FakeStopwatch(FakeDevice& device)
      : device_(device), engine_(device.seed) {}

  // A stopwatch may remember things of a rotation by its place, so nobody else
  // may be there later.
  Status measure(std::span<const Launch> rotation, std::size_t first, int calls,
                 double& milliseconds) override {
    Status timed = time(rotation, first, calls, milliseconds);
    device_.worked_ms += calls * milliseconds;
    const auto known = measured_.try_emplace(rotation.data(), last_plan).first;
    if (known->second != last_plan) {
      throw std::logic_error("a rotation that was measured is gone");
    }
    return timed;
  }

  Status glance(std::span<const Launch> rotation, std::size_t first,
                double& milliseconds) override {
    device_.worked_ms = 0;
    return time(rotation, first, 1, milliseconds);
  }

  std::string_view name() const override { return "fake"; }
  double resolution_ms() const override { return device_.resolution_ms; }
  double settling_ms() const override { return device_.settling_ms; }
  double waited_share() const override { return device_.waited_share; }
  bool sees_single_runs() const override { return device_.sees_single_runs; }
  double now_ms() override { return device_.clock.now_ms(); }

 private:
  Status time(std::span<const Launch> rotation, std::size_t first, int calls,
              double& milliseconds) {
    const double begin = device_.clock.now_ms();
    for (int call = 0; call < calls; ++call) {
      const std::size_t next =
          (first + static_cast<std::size_t>(call)) % rotation.size();
      if (Status status = rotation[next](); !status.is_ok()) {
        return status;
      }
    }
    milliseconds = (device_.clock.now_ms() - begin) / calls;
    milliseconds *= std::exp(device_.noise * normal_(engine_));
    if (device_.disturbed > 0 &&
        engine_() % static_cast<unsigned>(device_.disturbed) == 0) {
      milliseconds *= device_.disturbance;
    }
    return milliseconds > 0 ? Status::ok()
                            : Status::failed("the clock did not advance");
  }

  FakeDevice& device_;
  std::map<const Launch*, int> measured_;  // plans
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(FakeDevice& device) : device_(device) {}

  std::string device_name(Device) const override { return device_.name; }

  std::string file_tag(Device device) const override {
    return device_.tags.at(device);
  }

  Validators validators(Device) const override { return device_.validators; }
  std::size_t cache_bytes(Device) const override { return device_.cache_bytes; }

  std::size_t tuning_memory_bytes(Device) const override {
    return device_.memory_bytes;
  }

  DeviceMemory allocate(Device, std::size_t bytes) const override {
    if (device_.out_of_memory) {
      return nullptr;
    }
    const std::size_t rounded = (bytes + 511) / 512 * 512;
    device_.allocated += bytes;
    device_.clock.advance(device_.allocating_ms);
    device_.most_allocated =
        std::max<std::size_t>(device_.most_allocated, device_.allocated);
    return {std::aligned_alloc(512, rounded),
            [&device = device_, bytes](void* memory) {
              device.allocated -= bytes;
              std::free(memory);
            }};
  }

  std::unique_ptr<OperandMemory> make_operand_memory(Device,
                                                     Stream) const override {
    return std::make_unique<HostMemory>();
  }

  std::unique_ptr<Stopwatch> make_stopwatch(Device, Stream,
                                            bool) const override {
    return std::make_unique<FakeStopwatch>(device_);
  }

  double now_ms() const override { return device_.clock.now_ms(); }

  std::chrono::system_clock::time_point calendar_time() const override {
    return device_.calendar_time;
  }

  Status may_tune(Device, Stream) const override {
    if (device_.when_asked) {
      device_.when_asked();
    }
    return device_.may_tune;
  }

  std::unique_ptr<TuningScope> enter_tuning(Device,
                                            Stream stream) const override {
    struct Scope final : TuningScope {
      Scope(FakeDevice& d, Stream stream) : TuningScope(stream), device(d) {
        ++device.scopes;
        ++device.open_scopes;
      }
      ~Scope() override { --device.open_scopes; }
      FakeDevice& device;
    };
    return std::make_unique<Scope>(device_,
                                   device_.tuning_stream.handle == nullptr
                                       ? stream
                                       : device_.tuning_stream);
  }

 private:
  FakeDevice& device_;
};

/// A test with a folder of its own, which is gone afterwards.
class TempFolderTest : public testing::Test {
 protected:
  TempFolderTest() {
    std::string name = testing::TempDir() + "tunedops_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make a folder in " + testing::TempDir());
    }
    folder_ = name;
  }
  ~TempFolderTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const {
    return folder_ + '/' + name;
  }

  static void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  static std::string read_text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  static bool exists(const std::string& path) {
    return std::filesystem::exists(path);
  }

 private:
  std::string folder_;
};

}  // namespace tunedops
