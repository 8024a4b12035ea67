// How our tensor core kernels see the operands of a product, and which of them
// they copy as aligned. A mistake is a misaligned access on the GPU, which
// ends the process, or a tensor that the driver refuses.

#include "kernels/gemm/cuda/half_layout.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

TEST(HalfLayout, LinesAreAlongKOrNot) {
  for (const char* text : kLayouts) {
    const GemmProblem p = laid_out(200, 300, 408, text);
    const HalfLayout layout = half_layout(p);
    EXPECT_EQ(layout.a.k_is_contiguous, text[0] == 't');
    EXPECT_EQ(layout.b.k_is_contiguous, text[1] == 'n');
    EXPECT_EQ(layout.a.length, text[0] == 't' ? 408 : 200);
    EXPECT_EQ(layout.a.lines, text[0] == 't' ? 200 : 408);
    EXPECT_EQ(layout.b.length, text[1] == 'n' ? 408 : 300);
    EXPECT_EQ(layout.b.lines, text[1] == 'n' ? 300 : 408);
    EXPECT_EQ(layout.a.line_stride, p.lda);
    EXPECT_EQ(layout.b.line_stride, p.ldb);
  }
}

TEST(HalfLayout, OperandsAreAlignedIfEveryLineIs) {
  const auto are_aligned = [](auto change) {
    GemmProblem p = gpu_problem(256, 256, 256);
    change(p);
    const HalfLayout layout = half_layout(p);
    return std::pair{layout.a.is_aligned, layout.b.is_aligned};
  };
  constexpr std::pair kBoth{true, true};
  constexpr std::pair kOnlyA{true, false};
  constexpr std::pair kOnlyB{false, true};
  EXPECT_EQ(are_aligned([](auto&) {}), kBoth);
  EXPECT_EQ(are_aligned([](auto& p) { p.ldb = 264; }), kBoth);
  for (const int ld : {257, 258, 260}) {
    EXPECT_EQ(are_aligned([&](auto& p) { p.lda = ld; }), kOnlyB);
    EXPECT_EQ(are_aligned([&](auto& p) { p.ldb = ld; }), kOnlyA);
  }
  for (const int align : {2, 4, 8}) {
    const auto given = static_cast<std::uint8_t>(align);
    EXPECT_EQ(are_aligned([&](auto& p) { p.align_b = given; }), kOnlyA);
  }
  // One line is apart from nothing, and so is one matrix.
  EXPECT_EQ(are_aligned([](auto& p) { p.m = 1, p.lda = 257; }), kBoth);
  GemmProblem row = gpu_problem(1, 256, 256);
  row.lda = 257;
  EXPECT_EQ(half_layout(row).a.line_stride, 0);
  EXPECT_EQ(are_aligned([](auto& p) { p.stride_a = 1; }), kBoth);
  for (const int stride : {65537, 65540}) {
    EXPECT_EQ(are_aligned([&](auto& p) { p.batch = 2, p.stride_a = stride; }),
              kOnlyB);
  }
}

}  // namespace
}  // namespace tunedops::cuda
