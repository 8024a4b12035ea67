#include "backends/cuda/cuda_operand_memory.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cuda/check.h"
#include "backends/cuda/inspect_elements.h"
#include "backends/cuda/write_normals.h"
#include "tuning/normal_data.h"
#include "tuning/operand_layout.h"

namespace tunedops::cuda {
namespace {

// The scratch memory: what a search found, indices to gather and what is there,
// and the table of normal numbers in each type.
constexpr std::size_t kMostGathered = 1024;
constexpr std::size_t kLargestElement = 16;
constexpr std::size_t kFirst = 0;
constexpr std::size_t kIndices = 256;
constexpr std::size_t kValues = kIndices + kMostGathered * sizeof(std::int64_t);
constexpr std::size_t kTables = kValues + kMostGathered * kLargestElement;

std::size_t table_offset(std::size_t dtype) {
  std::size_t offset = kTables;
  for (std::size_t before = 0; before < dtype; ++before) {
    offset += kNormals * size_of(static_cast<DType>(before));
  }
  return offset;
}

}  // namespace

std::size_t CudaOperandMemory::scratch_bytes() {
  return table_offset(kDTypeCount);
}

Status CudaOperandMemory::poison(void* begin, std::size_t bytes) {
  TUNEDOPS_CUDA_RETURN(
      cudaMemsetAsync(begin, static_cast<int>(kPoison), bytes, stream_));
  return Status::ok();
}

Status CudaOperandMemory::clear(void* begin, std::size_t bytes) {
  TUNEDOPS_CUDA_RETURN(cudaMemsetAsync(begin, 0, bytes, stream_));
  return Status::ok();
}

Status CudaOperandMemory::write_normals(const Operand& operand, void* base,
                                        std::uint64_t seed) {
  const std::byte* table = nullptr;
  if (Status status = upload_table(operand.dtype, table); !status.is_ok()) {
    return status;
  }
  TUNEDOPS_CUDA_RETURN(cuda::write_normals(element_runs(operand), base,
                                           size_of(operand.dtype), table, seed,
                                           stream_));
  return Status::ok();
}

// Once for each type; the host's table outlives the copying.
Status CudaOperandMemory::upload_table(DType dtype, const std::byte*& table) {
  const auto place = static_cast<std::size_t>(dtype);
  std::byte* const target = scratch(table_offset(place));
  if (!has_table_[place]) {
    const std::span<const std::byte> source = normal_table(dtype);
    TUNEDOPS_CUDA_RETURN(cudaMemcpyAsync(target, source.data(), source.size(),
                                         cudaMemcpyHostToDevice, stream_));
    has_table_[place] = true;
  }
  table = target;
  return Status::ok();
}

Status CudaOperandMemory::copy(void* target, const void* source,
                               std::size_t bytes) {
  TUNEDOPS_CUDA_RETURN(cudaMemcpyAsync(target, source, bytes,
                                       cudaMemcpyDeviceToDevice, stream_));
  return Status::ok();
}

Status CudaOperandMemory::find_stray_write(const Operand& operand,
                                           const void* base, const void* begin,
                                           const void* end, bool& found) {
  if (Status status = expect_nothing(); !status.is_ok()) {
    return status;
  }
  const auto* const bytes = static_cast<const std::byte*>(base);
  for (const Gaps& gaps :
       gaps_between(operand, static_cast<const std::byte*>(begin) - bytes,
                    static_cast<const std::byte*>(end) - bytes)) {
    TUNEDOPS_CUDA_RETURN(
        find_written(gaps.runs, bytes + gaps.first,
                     reinterpret_cast<FirstIndex*>(scratch(kFirst)), stream_));
  }
  std::optional<std::int64_t> first;
  Status status = read_first(first);
  found = first.has_value();
  return status;
}

Status CudaOperandMemory::find_difference(const Operand& operand,
                                          const void* base,
                                          const void* expected,
                                          Tolerance tolerance,
                                          std::optional<std::int64_t>& index) {
  if (Status status = expect_nothing(); !status.is_ok()) {
    return status;
  }
  TUNEDOPS_CUDA_RETURN(find_disagreement(
      element_runs(operand), operand.dtype, base, expected, tolerance,
      reinterpret_cast<FirstIndex*>(scratch(kFirst)), stream_));
  return read_first(index);
}

Status CudaOperandMemory::expect_nothing() {
  TUNEDOPS_CUDA_RETURN(
      cudaMemsetAsync(scratch(kFirst), 0xff, sizeof(FirstIndex), stream_));
  return Status::ok();
}

// Waits for all that was asked of the stream.
Status CudaOperandMemory::read_first(std::optional<std::int64_t>& index) {
  FirstIndex first = 0;
  TUNEDOPS_CUDA_RETURN(cudaMemcpyAsync(&first, scratch(kFirst), sizeof(first),
                                       cudaMemcpyDeviceToHost, stream_));
  TUNEDOPS_CUDA_RETURN(cudaStreamSynchronize(stream_));
  index.reset();
  if (first != std::numeric_limits<FirstIndex>::max()) {
    index = static_cast<std::int64_t>(first);
  }
  return Status::ok();
}

Status CudaOperandMemory::gather(const Operand& operand, const void* base,
                                 std::span<const std::int64_t> indices,
                                 std::span<std::complex<double>> values) {
  for (std::size_t done = 0; done < indices.size(); done += kMostGathered) {
    const std::size_t some = std::min(kMostGathered, indices.size() - done);
    if (Status status = gather_some(operand, base, indices.subspan(done, some),
                                    values.subspan(done, some));
        !status.is_ok()) {
      return status;
    }
  }
  return Status::ok();
}

Status CudaOperandMemory::gather_some(const Operand& operand, const void* base,
                                      std::span<const std::int64_t> indices,
                                      std::span<std::complex<double>> values) {
  const std::size_t size = size_of(operand.dtype);
  std::vector<std::byte> elements(indices.size() * size);
  TUNEDOPS_CUDA_RETURN(cudaMemcpyAsync(scratch(kIndices), indices.data(),
                                       indices.size_bytes(),
                                       cudaMemcpyHostToDevice, stream_));
  TUNEDOPS_CUDA_RETURN(gather_elements(
      base, size, reinterpret_cast<std::int64_t*>(scratch(kIndices)),
      indices.size(), scratch(kValues), stream_));
  TUNEDOPS_CUDA_RETURN(cudaMemcpyAsync(elements.data(), scratch(kValues),
                                       elements.size(), cudaMemcpyDeviceToHost,
                                       stream_));
  TUNEDOPS_CUDA_RETURN(cudaStreamSynchronize(stream_));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    values[i] = load_element(operand.dtype, elements.data(), i);
  }
  return Status::ok();
}

}  // namespace tunedops::cuda
