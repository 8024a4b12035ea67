#include "kernels/gemm/cuda/pack_lines.h"

namespace tunedops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kElements = 8;  // of a thread: 16 bytes

/// The eight elements from an address on: four words, put together of five
/// where it is no multiple of 4 bytes. All of them are in the line.
__device__ uint4 load_inside(const std::uint16_t* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto* const words =
      reinterpret_cast<const unsigned*>(address - address % 4);
  if (address % 4 == 0) {
    return make_uint4(words[0], words[1], words[2], words[3]);
  }
  // The first and the last word are half ours.
  const unsigned first = from[0];
  const unsigned last = from[kElements - 1];
  const unsigned middle[] = {words[1], words[2], words[3]};
  return make_uint4(
      first | middle[0] << 16, __funnelshift_r(middle[0], middle[1], 16),
      __funnelshift_r(middle[1], middle[2], 16), middle[2] >> 16 | last << 16);
}

__device__ uint4 load_end(const std::uint16_t* from, int count) {
  unsigned words[kElements / 2] = {};
#pragma unroll
  for (int i = 0; i < kElements; ++i) {
    if (i < count) {
      words[i / 2] |= static_cast<unsigned>(from[i]) << 16 * (i % 2);
    }
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

__global__ void __launch_bounds__(kThreads)
    pack(UnpackedLines from, uint4* to, std::int64_t chunks_of_line,
         std::int64_t chunks) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
       i < chunks; i += step) {
    const std::int64_t line = i / chunks_of_line;
    const std::int64_t first = i % chunks_of_line * kElements;
    const auto* const data = static_cast<const std::uint16_t*>(from.data) +
                             line / from.lines * from.matrix_stride +
                             line % from.lines * from.line_stride + first;
    const std::int64_t left = from.length - first;
    to[i] = left >= kElements ? load_inside(data)
                              : load_end(data, static_cast<int>(left));
  }
}

}  // namespace

cudaError_t pack_lines(const UnpackedLines& from, void* to,
                       cudaStream_t stream) {
  constexpr std::int64_t kMostBlocks = 4096;
  const std::int64_t of_line = packed_line_stride(from.length) / kElements;
  const std::int64_t chunks = of_line * from.lines * from.matrices;
  const std::int64_t blocks = (chunks + kThreads - 1) / kThreads;
  pack<<<static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks),
         kThreads, 0, stream>>>(from, static_cast<uint4*>(to), of_line, chunks);
  return cudaGetLastError();
}

}  // namespace tunedops::cuda
