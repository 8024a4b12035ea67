#pragma once

// Fills and inspects operands where they lie. Each backend does it in its own
// memory: operands of a large problem would take seconds to pass through the
// host, more than tuning may take in all. Everything runs on the stream that
// the backend was asked with and returns before it is done, except where the
// answer is a value.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tuning/op_definition.h"
#include "tuning/status.h"

namespace tunedops {

/// What memory is full of where nothing was written: NaN in every floating
/// type.
inline constexpr std::byte kPoison{0xff};

class OperandMemory {
 public:
  OperandMemory() = default;
  OperandMemory(const OperandMemory&) = delete;
  OperandMemory& operator=(const OperandMemory&) = delete;
  virtual ~OperandMemory() = default;

  virtual Status poison(void* begin, std::size_t bytes) = 0;
  virtual Status clear(void* begin, std::size_t bytes) = 0;

  /// Writes `Elements::generated(dtype, seed)` into the elements of an operand
  /// and nothing into the gaps between them.
  virtual Status write_normals(const Operand& operand, void* base,
                               std::uint64_t seed) = 0;

  /// The ranges do not overlap.
  virtual Status copy(void* target, const void* source, std::size_t bytes) = 0;

  /// Whether anything in [begin, end) that is no element of the operand is no
  /// poison any more.
  virtual Status find_stray_write(const Operand& operand, const void* base,
                                  const void* begin, const void* end,
                                  bool& found) = 0;

  /// The elements at `indices` behind the base, in host memory. As many values
  /// as indices.
  virtual Status gather(const Operand& operand, const void* base,
                        std::span<const std::int64_t> indices,
                        std::span<std::complex<double>> values) = 0;

  /// The first element in memory that differs by more than the tolerance from
  /// its equal in `expected`, which is laid out alike; see `agrees`.
  virtual Status find_difference(const Operand& operand, const void* base,
                                 const void* expected, Tolerance tolerance,
                                 std::optional<std::int64_t>& index) = 0;
};

}  // namespace tunedops
