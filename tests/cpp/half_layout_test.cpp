// How our tensor core kernels see the operands of a product, and by how many
// bytes they can copy them. A mistake is a misaligned access on the GPU, which
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

TEST(HalfLayout, UnitsAreWhatEveryLineIsAlignedTo) {
  const auto units = [](auto change) {
    GemmProblem p = gpu_problem(256, 256, 256);
    change(p);
    const HalfLayout layout = half_layout(p);
    return std::pair{layout.a.unit, layout.b.unit};
  };
  using Units = std::pair<int, int>;
  EXPECT_EQ(units([](auto&) {}), (Units{16, 16}));
  EXPECT_EQ(units([](auto& p) { p.lda = 257; }), (Units{2, 16}));
  EXPECT_EQ(units([](auto& p) { p.lda = 258; }), (Units{4, 16}));
  EXPECT_EQ(units([](auto& p) { p.lda = 260; }), (Units{8, 16}));
  EXPECT_EQ(units([](auto& p) { p.ldb = 264; }), (Units{16, 16}));
  for (const int align : {2, 4, 8, 16}) {
    const auto given = static_cast<std::uint8_t>(align);
    EXPECT_EQ(units([&](auto& p) { p.align_b = given; }), (Units{16, align}));
  }
  // One line is apart from nothing, and so is one matrix; but copies of nothing
  // have to be aligned where the next would be.
  EXPECT_EQ(units([](auto& p) { p.m = 1, p.lda = 257; }), (Units{16, 16}));
  GemmProblem row = gpu_problem(1, 256, 256);
  row.lda = 257;
  EXPECT_EQ(half_layout(row).a.line_stride, 0);
  EXPECT_EQ(units([](auto& p) { p.stride_a = 1; }), (Units{16, 16}));
  EXPECT_EQ(units([](auto& p) { p.batch = 2, p.stride_a = 65537; }),
            (Units{2, 16}));
  EXPECT_EQ(units([](auto& p) { p.batch = 2, p.stride_a = 65540; }),
            (Units{8, 16}));
}

TEST(HalfLayout, LinesThatBeginAtMultiplesOf16BytesAreAligned) {
  GemmProblem p = gpu_problem(256, 256, 256);
  EXPECT_TRUE(half_layout(p).a.is_aligned());
  p.lda = 257;
  EXPECT_FALSE(half_layout(p).a.is_aligned());
  EXPECT_TRUE(half_layout(p).b.is_aligned());
  p.lda = 264;
  EXPECT_TRUE(half_layout(p).a.is_aligned());
  p.align_a = 8;
  EXPECT_FALSE(half_layout(p).a.is_aligned());
  // One line is apart from nothing.
  GemmProblem row = gpu_problem(1, 256, 255);
  row.ldb = 256;
  EXPECT_TRUE(half_layout(row).a.is_aligned());
}

}  // namespace
}  // namespace tunedops::cuda
