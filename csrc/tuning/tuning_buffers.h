#pragma once

// Operands to tune on. Never the caller's: they would be overwritten, and
// whatever they hold (zeros, NaN) would decide. Each copy of the problem has
// standard-normal inputs and an output full of NaN, every operand between guard
// zones and with the alignment that the key promises, so that a kernel that
// reads or writes where it must not is found out.

#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tuning/backend.h"
#include "tuning/elements.h"
#include "tuning/op_definition.h"
#include "tuning/operand_memory.h"
#include "tuning/plan.h"

namespace tunedops {

class TuningBuffers {
 public:
  /// `rotating_bytes` is what the copies together should exceed; how many
  /// there are is bounded by `memory_bytes`, and by `has_time`, which is asked
  /// before more are filled than the first. See status().
  TuningBuffers(const Backend& backend, const OpDefinition& op,
                const ProblemKey& problem, Stream stream,
                std::size_t rotating_bytes, std::size_t memory_bytes,
                std::size_t workspace_bytes, std::size_t counter_count = 0,
                const std::function<bool()>& has_time = {});

  const Status& status() const { return status_; }
  std::size_t copies() const { return copies_; }
  Arguments arguments(std::size_t copy) const;

  const Operand& output() const { return slots_[output_slot_].operand; }

  /// What the operands of every copy were filled with, in the order of
  /// Arguments::operands.
  std::vector<Elements> elements() const;

  // The output of copy 0.

  /// Puts it back to how it was filled.
  Status reset_output();

  /// Unsupported if anything around or between its elements was written, or if
  /// counters were not left zero.
  Status check_untouched();

  Status gather_output(std::span<const std::int64_t> indices,
                       std::span<std::complex<double>> values);

  /// Keeps a copy of it, to compare later outputs with.
  Status keep_output();

  struct Difference {
    std::int64_t index = 0;
    std::complex<double> value;
    std::complex<double> kept;
  };

  /// The first element that differs from the kept one by more than the
  /// tolerance.
  Status compare_with_kept(Tolerance tolerance,
                           std::optional<Difference>& difference);

 private:
  struct Slot {
    Operand operand;
    std::size_t begin = 0;   // of the leading guard zone, in a copy
    std::size_t base = 0;    // of the first element
    std::size_t end = 0;     // behind the trailing guard zone
    std::uint64_t seed = 0;  // of its numbers
  };

  void lay_out(std::vector<Operand> operands);
  Status allocate(const Backend& backend, Device device, Stream stream,
                  std::size_t workspace_bytes);
  Status make_counters(const Backend& backend, Device device,
                       std::size_t count);
  Status check_counters();
  Status fill(const std::function<bool()>& has_time);
  Status write_normals(const Slot& slot);
  std::byte* address(std::size_t copy) const;
  std::byte* output_address() const;
  std::byte* kept_address() const;

  Status status_ = Status::ok();
  std::vector<Slot> slots_;
  std::size_t output_slot_ = 0;
  std::size_t copy_bytes_ = 0;
  std::size_t kept_bytes_ = 0;  // of the kept output, behind all copies
  std::size_t copies_ = 1;
  double alpha_ = 1;
  double beta_ = 0;
  DeviceMemory memory_;
  DeviceMemory workspace_;
  DeviceMemory counters_;
  std::size_t counter_count_ = 0;
  std::unique_ptr<OperandMemory> operand_memory_;
};

}  // namespace tunedops
