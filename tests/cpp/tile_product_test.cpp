// What kernels are told of a product that they compute in tiles: which of the
// schedule's sides is which of the problem's, and the arguments of a run.

#include "kernels/gemm/cuda/tile_product.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

TEST(TileProduct, RowsLieAlongNUnlessTurned) {
  const GemmProblem p = in_batches(gpu_problem(1000, 300, 130), 7);
  const TileSchedule x = schedule_of(p, {256, 128}, false, 2, 32, 8);
  EXPECT_EQ(x.row_tiles, 3);
  EXPECT_EQ(x.column_tiles, 4);
  EXPECT_EQ(x.batch, 7);
  EXPECT_EQ(x.splits, 2);
  EXPECT_EQ(x.k_steps, 5);
  EXPECT_EQ(x.tiles_down, 8);
  const TileSchedule turned = schedule_of(p, {256, 128}, true, 2, 32, 8);
  EXPECT_EQ(turned.row_tiles, 4);
  EXPECT_EQ(turned.column_tiles, 3);
  for (const bool is_turned : {false, true}) {
    const TileSize there_and_back =
        to_problem(to_instruction({256, 128}, is_turned), is_turned);
    EXPECT_EQ(there_and_back.m, 256);
    EXPECT_EQ(there_and_back.n, 128);
  }
}

TEST(TileProduct, ArgumentsAreThoseOfTheRun) {
  float memory[4];
  unsigned counters[1];
  Arguments arguments;
  arguments.operands[kGemmOut] = &memory[0];
  arguments.operands[kGemmBias] = &memory[1];
  arguments.workspace = &memory[2];
  arguments.counters = counters;
  arguments.alpha = 0.5;
  arguments.beta = 0.25;
  TileOutput output{};
  SplitMeeting meeting{};

  GemmProblem p = gpu_problem(64, 64, 64);
  set_arguments(p, arguments, output, meeting);
  EXPECT_EQ(output.out, &memory[0]);
  EXPECT_EQ(output.bias, nullptr) << "the problem has none";
  EXPECT_EQ(output.alpha, 1.0F) << "the problem says that it is 1";
  EXPECT_EQ(output.beta, 0.0F);
  EXPECT_EQ(meeting.partial, &memory[2]);
  EXPECT_EQ(meeting.counters, counters);

  p.bias_dtype = DType::kFloat32;
  p.alpha = p.beta = ScalarClass::kAny;
  set_arguments(p, arguments, output, meeting);
  EXPECT_EQ(output.bias, &memory[1]);
  EXPECT_EQ(output.alpha, 0.5F);
  EXPECT_EQ(output.beta, 0.25F);
}

}  // namespace
}  // namespace tunedops::cuda
