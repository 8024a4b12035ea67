#pragma once

// Hopper's matrix instruction: the four warps of a group multiply 64 x 16 by
// 16 x N, both in shared memory, and add it to N / 2 registers a thread. Thread
// `lane` of warp `w` holds rows 16 w + lane / 4 and 8 more, of each 8 columns
// those at 2 (lane % 4) and next to it.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace tunedops::cuda {

/// Where an operand lies in shared memory, as the instruction wants it: pieces
/// of 64 x 64 elements in rows of 128 bytes, swizzled as the copy engine does
/// it. `leading` is from one block of 64 along m or n to the next (only where
/// k is not contiguous), `stride` from 8 rows to the next 8; in bytes.
__device__ inline std::uint64_t
matrix_descriptor(unsigned address, unsigned leading, unsigned stride) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62;
  const auto field = [](unsigned bytes) {
    return static_cast<std::uint64_t>((bytes & 0x3FFFF) >> 4);
  };
  return field(address) | field(leading) << 16 | field(stride) << 32 |
         kSwizzle128;
}

/// Orders what this thread did to registers before its instructions.
__device__ inline void begin_multiply() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_multiply() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most so many of the committed groups are not done.
template <int kPending>
__device__ void wait_multiply() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// The registers of so many columns, as operands.
#define TUNEDOPS_SUMS_8(d, i)                                                  \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),  \
      "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TUNEDOPS_SUMS_32(d, i)                                                 \
  TUNEDOPS_SUMS_8(d, i), TUNEDOPS_SUMS_8(d, i + 8),                            \
      TUNEDOPS_SUMS_8(d, i + 16), TUNEDOPS_SUMS_8(d, i + 24)

// The same in the text of the instruction.
#define TUNEDOPS_TEXT_0                                                        \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "     \
  "%30, %31"
#define TUNEDOPS_TEXT_32                                                       \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "     \
  "%46, %47, "                                                                 \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "     \
  "%62, %63"
#define TUNEDOPS_TEXT_64                                                       \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, "     \
  "%78, %79, "                                                                 \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, "     \
  "%94, %95"
#define TUNEDOPS_TEXT_96                                                       \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, " \
  "%109, %110, %111, "                                                         \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, "   \
  "%124, %125, %126, %127"

#define TUNEDOPS_WGMMA(columns, type, text, first, second, scale, trans_a,     \
                       trans_b, ...)                                           \
  asm volatile("{\n"                                                           \
               ".reg .pred add;\n"                                             \
               "setp.ne.b32 add, " scale ", 0;\n"                              \
               "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type    \
               "." type " {" text "}, " first ", " second                      \
               ", add, 1, 1, " trans_a ", " trans_b ";\n"                      \
               "}"                                                             \
               : __VA_ARGS__                                                   \
               : "l"(a), "l"(b), "r"(add), "n"(kTransA), "n"(kTransB))

/// d += a * b, or d = a * b without `add`. An operand is "transposed" if m or n
/// is contiguous in it and not k.
template <class T, int kColumns, bool kTransposeA, bool kTransposeB>
__device__ inline void multiply_add(float (&d)[kColumns / 2], std::uint64_t a,
                                    std::uint64_t b, int add) {
  constexpr int kTransA = kTransposeA ? 1 : 0;
  constexpr int kTransB = kTransposeB ? 1 : 0;
  constexpr bool kIsHalf = std::is_same_v<T, __half>;
  if constexpr (kColumns == 64) {
    if constexpr (kIsHalf) {
      TUNEDOPS_WGMMA(64, "f16", TUNEDOPS_TEXT_0, "%32", "%33", "%34", "%35",
                     "%36", TUNEDOPS_SUMS_32(d, 0));
    } else {
      TUNEDOPS_WGMMA(64, "bf16", TUNEDOPS_TEXT_0, "%32", "%33", "%34", "%35",
                     "%36", TUNEDOPS_SUMS_32(d, 0));
    }
  } else if constexpr (kColumns == 128) {
    if constexpr (kIsHalf) {
      TUNEDOPS_WGMMA(128, "f16", TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32, "%64",
                     "%65", "%66", "%67", "%68", TUNEDOPS_SUMS_32(d, 0),
                     TUNEDOPS_SUMS_32(d, 32));
    } else {
      TUNEDOPS_WGMMA(128, "bf16", TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32, "%64",
                     "%65", "%66", "%67", "%68", TUNEDOPS_SUMS_32(d, 0),
                     TUNEDOPS_SUMS_32(d, 32));
    }
  } else if constexpr (kColumns == 192) {
    if constexpr (kIsHalf) {
      TUNEDOPS_WGMMA(192, "f16",
                     TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32
                                     ", " TUNEDOPS_TEXT_64,
                     "%96", "%97", "%98", "%99", "%100", TUNEDOPS_SUMS_32(d, 0),
                     TUNEDOPS_SUMS_32(d, 32), TUNEDOPS_SUMS_32(d, 64));
    } else {
      TUNEDOPS_WGMMA(192, "bf16",
                     TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32
                                     ", " TUNEDOPS_TEXT_64,
                     "%96", "%97", "%98", "%99", "%100", TUNEDOPS_SUMS_32(d, 0),
                     TUNEDOPS_SUMS_32(d, 32), TUNEDOPS_SUMS_32(d, 64));
    }
  } else if constexpr (kColumns == 256) {
    if constexpr (kIsHalf) {
      TUNEDOPS_WGMMA(256, "f16",
                     TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32 ", " TUNEDOPS_TEXT_64
                                     ", " TUNEDOPS_TEXT_96,
                     "%128", "%129", "%130", "%131", "%132",
                     TUNEDOPS_SUMS_32(d, 0), TUNEDOPS_SUMS_32(d, 32),
                     TUNEDOPS_SUMS_32(d, 64), TUNEDOPS_SUMS_32(d, 96));
    } else {
      TUNEDOPS_WGMMA(256, "bf16",
                     TUNEDOPS_TEXT_0 ", " TUNEDOPS_TEXT_32 ", " TUNEDOPS_TEXT_64
                                     ", " TUNEDOPS_TEXT_96,
                     "%128", "%129", "%130", "%131", "%132",
                     TUNEDOPS_SUMS_32(d, 0), TUNEDOPS_SUMS_32(d, 32),
                     TUNEDOPS_SUMS_32(d, 64), TUNEDOPS_SUMS_32(d, 96));
    }
  } else {
    static_assert(kColumns == 0, "no such instruction here");
  }
}

}  // namespace tunedops::cuda
