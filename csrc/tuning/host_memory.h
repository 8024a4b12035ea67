#pragma once

// Operands in host memory: for CPUs, and the model that other implementations
// have to agree with.

#include "tuning/operand_memory.h"

namespace tunedops {

class HostMemory final : public OperandMemory {
 public:
  Status poison(void* begin, std::size_t bytes) override;
  Status clear(void* begin, std::size_t bytes) override;
  Status write_normals(const Operand& operand, void* base,
                       std::uint64_t seed) override;
  Status copy(void* target, const void* source, std::size_t bytes) override;
  Status find_stray_write(const Operand& operand, const void* base,
                          const void* begin, const void* end,
                          bool& found) override;
  Status gather(const Operand& operand, const void* base,
                std::span<const std::int64_t> indices,
                std::span<std::complex<double>> values) override;
  Status find_difference(const Operand& operand, const void* base,
                         const void* expected, Tolerance tolerance,
                         std::optional<std::int64_t>& index) override;
};

}  // namespace tunedops
