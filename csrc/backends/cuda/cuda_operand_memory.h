#pragma once

// Operands in a GPU's memory, filled and inspected there: only samples and
// findings come to the host.

#include <array>

#include <cuda_runtime_api.h>

#include "tuning/backend.h"

namespace tunedops::cuda {

class CudaOperandMemory final : public OperandMemory {
 public:
  /// Bytes that it needs for itself, in the GPU's memory.
  static std::size_t scratch_bytes();

  CudaOperandMemory(cudaStream_t stream, DeviceMemory scratch)
      : stream_(stream), scratch_(std::move(scratch)) {}

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

 private:
  std::byte* scratch(std::size_t offset) const {
    return static_cast<std::byte*>(scratch_.get()) + offset;
  }
  Status upload_table(DType dtype, const std::byte*& table);
  Status gather_some(const Operand& operand, const void* base,
                     std::span<const std::int64_t> indices,
                     std::span<std::complex<double>> values);
  Status expect_nothing();
  Status read_first(std::optional<std::int64_t>& index);

  cudaStream_t stream_;
  DeviceMemory scratch_;
  std::array<bool, kDTypeCount> has_table_{};
};

}  // namespace tunedops::cuda
