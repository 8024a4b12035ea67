#include "kernels/gemm/cuda/pack_lines.h"

#include <algorithm>

#include "kernels/gemm/cuda/divisor.h"

namespace tunedops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kChunks = 4;  // that a thread has on their way at once

// A copy as its threads see it: so many chunks of 16 bytes.
struct Job {
  const char* from;
  uint4* to;
  std::int64_t line_bytes;  // from line to line
  std::int64_t matrix_bytes;
  const char* end;  // of the last line
  int used_bytes;   // of a line
  int chunks;       // of all
  int lines;
  int chunks_of_line;
  Divisor by_line;
  Divisor by_matrix;
};

struct Jobs {
  Job of[2];
};

// Where the last 16 bytes begin that the operand, perhaps, has in part only.
__device__ const char* whole_end(const Job& job) {
  return job.end - reinterpret_cast<std::uintptr_t>(job.end) % 16;
}

// Eight elements that begin at a multiple of 2 bytes. What is behind the line
// is not read, unless it is in the same 16 bytes as what is before; nor is what
// is behind `whole_end`. (What is before an operand in its first 16 bytes is:
// memory is given out by more than that.)
__device__ uint4 load_anywhere(const char* from, const char* line_end,
                               const char* whole_end) {
  const auto early =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 16);
  const char* const whole = from - early;
  const char* const end = line_end < whole_end ? line_end : whole_end;
  const auto load = [&](const char* at) {
    return at < end ? __ldg(reinterpret_cast<const uint4*>(at))
                    : make_uint4(0, 0, 0, 0);
  };
  const uint4 low = load(whole);
  if (early == 0) {
    return low;
  }
  const uint4 high = load(whole + 16);
  unsigned words[] = {low.x,  low.y,  low.z,  low.w,
                      high.x, high.y, high.z, high.w};
  // By two words and by one: which registers are meant has to be known.
  if ((early & 8) != 0) {
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      words[i] = words[i + 2];
    }
  }
  if ((early & 4) != 0) {
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      words[i] = words[i + 1];
    }
  }
  const unsigned bits = (early & 2) * 8;
  return make_uint4(__funnelshift_r(words[0], words[1], bits),
                    __funnelshift_r(words[1], words[2], bits),
                    __funnelshift_r(words[2], words[3], bits),
                    __funnelshift_r(words[3], words[4], bits));
}

// The same of what is behind `whole_end`, element by element: what shares 16
// bytes with an operand's last ones may be another's.
__device__ uint4 load_last(const char* from, const char* line_end) {
  unsigned words[4]{};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const auto* const at = reinterpret_cast<const unsigned short*>(from) + i;
    if (reinterpret_cast<const char*>(at) < line_end) {
      words[i / 2] |= static_cast<unsigned>(__ldg(at)) << (i % 2 * 16);
    }
  }
  return make_uint4(words[0], words[1], words[2], words[3]);
}

// Where a chunk comes from.
struct Place {
  const char* from;
  const char* line_end;
};

__device__ Place place_of(const Job& job, int chunk) {
  const int line = job.by_line.divide(chunk);
  const int matrix = job.by_matrix.divide(line);
  const char* const begin = job.from + matrix * job.matrix_bytes +
                            (line - matrix * job.lines) * job.line_bytes;
  return {begin + (chunk - line * job.chunks_of_line) * 16,
          begin + job.used_bytes};
}

__global__ void __launch_bounds__(kThreads, 5)
    pack(const __grid_constant__ Jobs jobs) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const Job& job = jobs.of[blockIdx.y];
  const int first =
      static_cast<int>(blockIdx.x * kThreads * kChunks + threadIdx.x);
  const char* const last = whole_end(job);
  // Chunks that need some of the last 16 bytes are neighbours, and so of
  // different threads.
  int last_chunk = -1;
  uint4 chunks[kChunks];
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int chunk = first + i * kThreads;
    if (chunk >= job.chunks) {
      break;
    }
    const auto [from, line_end] = place_of(job, chunk);
    chunks[i] = load_anywhere(from, line_end, last);
    if (from + 16 > last && from < line_end) {
      last_chunk = chunk;
    }
  }
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int chunk = first + i * kThreads;
    if (chunk < job.chunks) {
      job.to[chunk] = chunks[i];
    }
  }
  if (last_chunk >= 0) {
    const auto [from, line_end] = place_of(job, last_chunk);
    job.to[last_chunk] = load_last(from, line_end);
  }
}

Job job_of(const PackedLines& x) {
  const auto chunks_of_line = static_cast<int>(packed_pitch(x.length) / 8);
  const auto* const from = static_cast<const char*>(x.from);
  return {.from = from,
          .to = static_cast<uint4*>(x.to),
          .line_bytes = 2 * x.line_stride,
          .matrix_bytes = 2 * x.matrix_stride,
          .end = from + 2 * ((x.matrices - 1) * x.matrix_stride +
                             (x.lines - 1) * x.line_stride + x.length),
          .used_bytes = static_cast<int>(2 * x.length),
          .chunks = static_cast<int>(packed_bytes(x) / 16),
          .lines = static_cast<int>(x.lines),
          .chunks_of_line = chunks_of_line,
          .by_line = Divisor(chunks_of_line),
          .by_matrix = Divisor(static_cast<int>(x.lines))};
}

}  // namespace

cudaError_t pack_lines(const PackedLines* operands, int count,
                       cudaStream_t stream) {
  Jobs jobs{};
  int most = 0;
  for (int i = 0; i < count; ++i) {
    jobs.of[i] = job_of(operands[i]);
    most = std::max(most, jobs.of[i].chunks);
  }
  constexpr int kOfBlock = kThreads * kChunks;
  const dim3 blocks(static_cast<unsigned>((most + kOfBlock - 1) / kOfBlock),
                    static_cast<unsigned>(count));
  pack<<<blocks, kThreads, 0, stream>>>(jobs);
  return cudaGetLastError();
}

}  // namespace tunedops::cuda
