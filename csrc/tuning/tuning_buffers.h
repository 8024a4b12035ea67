#pragma once

// Operands to tune on. Never the caller's: they would be overwritten, and
// whatever they hold (zeros, NaN) would decide. Each copy of the problem has
// standard-normal inputs and an output full of NaN, every operand between guard
// zones and with the alignment that the key promises, so that a kernel that
// reads or writes where it must not is found out.

#include <cstddef>
#include <vector>

#include "tuning/backend.h"
#include "tuning/op_definition.h"
#include "tuning/plan.h"

namespace tunedops {

class TuningBuffers {
 public:
  /// `rotating_bytes` is what the copies together should exceed; how many
  /// there are is bounded by `memory_bytes`. See status().
  TuningBuffers(const Backend& backend, const OpDefinition& op,
                const ProblemKey& problem, Stream stream,
                std::size_t rotating_bytes, std::size_t memory_bytes,
                std::size_t workspace_bytes);

  const Status& status() const { return status_; }
  std::size_t copies() const { return copies_; }
  Arguments arguments(std::size_t copy) const;

  /// The operands of every copy as they were filled, in host memory, in the
  /// order of Arguments::operands (null where absent).
  std::vector<const void*> host_operands() const;

  /// Puts the output of copy 0 back to how it was filled.
  Status reset_output();

  /// Fetches the output of copy 0. Unsupported with a reason if anything
  /// around or between its elements was written.
  Status fetch_output(std::vector<std::byte>& output);

  const Operand& output() const { return slots_[output_slot_].operand; }

 private:
  struct Slot {
    Operand operand;
    std::size_t begin = 0;         // of the leading guard zone, in a copy
    std::size_t base = 0;          // of the first element
    std::size_t end = 0;           // behind the trailing guard zone
    std::vector<std::byte> image;  // bytes [begin, end) as filled
  };

  void lay_out(std::vector<Operand> operands);
  static void fill(Slot& slot, bool random, unsigned seed);
  std::byte* address(std::size_t copy) const;
  Status check_untouched(const Slot& slot,
                         const std::vector<std::byte>& now) const;

  const Backend& backend_;
  Stream stream_;
  Status status_ = Status::ok();
  std::vector<Slot> slots_;
  std::size_t output_slot_ = 0;
  std::size_t copy_bytes_ = 0;
  std::size_t copies_ = 1;
  double alpha_ = 1;
  double beta_ = 0;
  DeviceMemory memory_;
  DeviceMemory workspace_;
};

}  // namespace tunedops
