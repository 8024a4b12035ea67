// A product that no result is stored for: tuned once, then known; or, where
// tuning is not allowed, what ON_MISS says.

#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

using ContextMissTest = ContextTest;

TEST_F(ContextMissTest, IsTunedOnceAndThenKnown) {
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.5});
  const Plan* plan = context().plan_for(gemm(), {});
  EXPECT_EQ(solution_of(plan), "Gemm_Fast");
  const int runs = fast.runs() + standard().runs();
  EXPECT_GT(runs, 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(context().plan_for(gemm(), {}), plan);
  }
  EXPECT_EQ(fast.runs() + standard().runs(), runs);
  EXPECT_TRUE(warnings().empty());
}

// A picker once timed one kernel and ran another.
TEST_F(ContextMissTest, WhatRunsIsWhatWon) {
  const Config small = Config().with("tile", 16);
  const Config large = Config().with("tile", 64);
  FakeKernel& kernel = add({.name = "Gemm_Tiled",
                            .configs = {small, large},
                            .ms_of = [&](const Config& config) {
                              return config == large ? 0.3 : 0.6;
                            }});
  const Plan* plan = context().plan_for(gemm(), {});
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(solution_of(plan), "Gemm_Tiled_tile_64");
  EXPECT_EQ(static_cast<const FakePlan*>(plan)->problem(), gemm());
  const int runs = kernel.runs(large);
  std::vector<float> a(24, 1.0F);
  std::vector<float> b(32, 2.0F);
  std::vector<float> out(48);
  Arguments arguments;
  arguments.operands = {a.data(), b.data(), out.data()};
  ASSERT_TRUE(plan->run(arguments, {}).is_ok());
  EXPECT_EQ(out[47], 8.0F);
  EXPECT_EQ(kernel.runs(large), runs + 1);
}

TEST_F(ContextMissTest, EachProblemHasItsOwnWinner) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  add({.name = "Scale_Fast", .ms = 0.5}, scale_op());
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(choice(gemm(9)), "Gemm_Fast");
  EXPECT_EQ(choice(scale_problem(100)), "Scale_Fast");
  EXPECT_NE(context().plan_for(gemm(8), {}), context().plan_for(gemm(9), {}));
  EXPECT_EQ(context().results({}).size(), 3U);
}

TEST_F(ContextMissTest, DefaultThatWonIsRememberedToo) {
  FakeKernel& slow = add({.name = "Gemm_Slow", .ms = 2.0});
  EXPECT_EQ(choice(gemm()), "Default");
  const int runs = slow.runs();
  context().set_setting("VERBOSE", "0");  // forgets the plans, not the results
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(slow.runs(), runs);
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Default")});
}

TEST_F(ContextMissTest, WhereOnlyDefaultCanRunItIsKeptUntimed) {
  add({.name = "Gemm_Other", .fault = Fault::kUnsupported});
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(standard().runs(), 0) << "it would stall the program for nothing";
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Default")});
  EXPECT_TRUE(read_text(csv()).ends_with(row(8, "Default")));
  const TuneOutcome outcome = context().tune(gemm(), {}, /*persist=*/true);
  EXPECT_EQ(outcome.default_ms, 1) << "explicit tuning does time it";
}

TEST_F(ContextMissTest, WhereOnlyDefaultCanRunVariantsAreBoundedToo) {
  context().set_setting("MAX_VARIANTS", "3");
  for (std::int64_t n = 8; n < 18; ++n) {
    EXPECT_EQ(choice(gemm(n)), "Default");
  }
  EXPECT_EQ(rows_of_csv().size(), 3U);
}

TEST_F(ContextMissTest, TheWinAndItsTimesAreKeptAtOnce) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  choice(gemm());
  const KeyText key = context().key_text(gemm());
  EXPECT_EQ(read_text(csv()),
            std::string(kValidators) + key.op + ',' + key.params +
                ",Gemm_Fast,0.5,1,fake,100,0,0.01,2030-01-31\n");
}

TEST_F(ContextMissTest, ANewKernelIsNotTriedOnAStoredProblem) {
  choice(gemm());
  FakeKernel& late = add({.name = "Gemm_Late", .ms = 0.1});
  context().set_setting("VERBOSE", "0");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(late.runs(), 0);
}

TEST_F(ContextMissTest, WithTuningOffItIsDefault) {
  FakeKernel& fast =
      add({.name = "Gemm_Fast", .ms = 0.5, .heuristic = Config()});
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(fast.runs() + standard().runs(), 0);
  EXPECT_FALSE(exists(csv()));
  EXPECT_TRUE(context().results({}).empty());
  context().set_setting("TUNING", "1");
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "the switch was noticed";
}

TEST_F(ContextMissTest, HeuristicTakesTheFirstThatIsConfident) {
  context().set_setting("TUNING", "0");
  context().set_setting("ON_MISS", "heuristic");
  add({.name = "Gemm_Shy"});
  add({.name = "Gemm_Unable",
       .fault = Fault::kUnsupported,
       .heuristic = Config()});
  add({.name = "Gemm_Declines",
       .fault = Fault::kDeclines,
       .heuristic = Config()});
  FakeKernel& confident = add({.name = "Gemm_Sure",
                               .configs = {Config().with("tile", 1)},
                               .heuristic = Config().with("tile", 1)});
  EXPECT_EQ(choice(gemm()), "Gemm_Sure_tile_1");
  EXPECT_EQ(choice(scale_problem(3)), "Default") << "nobody is confident";
  EXPECT_EQ(confident.runs(), 0);
  EXPECT_TRUE(context().results({}).empty()) << "a guess is no result";
}

TEST_F(ContextMissTest, ErrorSaysWhichProductAndWhatToDo) {
  context().set_setting("TUNING", "0");
  context().set_setting("ON_MISS", "error");
  const KeyText key = context().key_text(gemm());
  try {
    choice(gemm());
    FAIL() << "a miss was no error";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "no result is stored for '" + key.op + ',' + key.params +
                  "' and TUNEDOPS_ON_MISS is 'error'; tune it or set ON_MISS "
                  "to 'default'");
  }
  write_csv(row(8, "Default"));
  context().read_file({}, {});
  EXPECT_EQ(choice(gemm()), "Default");
}

// The error is all the more puzzling without the reason why nothing is stored.
TEST_F(ContextMissTest, ErrorDoesNotSwallowTheWarningOfARejectedFile) {
  write_text(csv(), "Validator,DEVICE,another\n" + row(8, "Default"));
  context().set_setting("TUNING", "0");
  context().set_setting("ON_MISS", "error");
  EXPECT_THROW(choice(gemm()), std::runtime_error);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("validator DEVICE is 'another' in the file"),
            std::string::npos);
}

TEST_F(ContextMissTest, WhereTuningIsForbiddenNowItIsTunedLater) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  device_.may_tune = Status::unsupported("a graph is being captured");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(choice(gemm()), "Default");
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(context().results({}).empty());
  device_.may_tune = Status::ok();
  EXPECT_EQ(choice(gemm()), "Gemm_Fast");
}

TEST_F(ContextMissTest, AThreadThatTunesTakesOriginals) {
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_TRUE(context().is_active());
  {
    const OriginalsOnly mark;
    EXPECT_FALSE(context().is_active());
    EXPECT_EQ(choice(gemm()), "Default");
  }
  EXPECT_TRUE(context().is_active());
  EXPECT_EQ(choice(gemm()), "Gemm_Fast") << "the nested answer was not kept";
}

TEST_F(ContextMissTest, OnlyTheKernelsAskedForCompete) {
  FakeKernel& first = add({.name = "Gemm_First", .ms = 0.2});
  add({.name = "Gemm_Second", .ms = 0.5, .heuristic = Config()});
  context().set_setting("KERNELS", "Gemm_Second,Gemm_Third");
  EXPECT_EQ(choice(gemm(8)), "Gemm_Second");
  EXPECT_EQ(first.runs(), 0);
  context().set_setting("KERNELS", "Gemm_First");
  context().set_setting("TUNING", "0");
  context().set_setting("ON_MISS", "heuristic");
  EXPECT_EQ(choice(gemm(9)), "Default") << "the confident one may not";
  EXPECT_EQ(choice(gemm(8)), "Gemm_Second") << "what is stored is used";
}

TEST_F(ContextMissTest, AFailedTuningIsSaidAndMeansDefault) {
  device_.memory_bytes = 10;
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm()), "Default");
  const KeyText key = context().key_text(gemm());
  EXPECT_EQ(warnings(),
            std::vector<std::string>{"tunedops: tuning of '" + key.op + ',' +
                                     key.params +
                                     "' stopped: "
                                     "not enough free memory to tune on"});
  EXPECT_TRUE(context().results({}).empty());
  EXPECT_FALSE(exists(csv()));
}

TEST_F(ContextMissTest, AfterAStickyFailureNothingIsTunedAnyMore) {
  FakeKernel& sticky = add({.name = "Gemm_Sticky",
                            .fault = Fault::kSticky,
                            .reason = "illegal memory access"});
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(sticky.runs(), 1);
  EXPECT_EQ(choice(gemm(9)), "Default");
  EXPECT_EQ(sticky.runs(), 1);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_TRUE(warnings()[0].ends_with("stopped: illegal memory access"));
  EXPECT_FALSE(exists(csv()));
  EXPECT_THROW(context().tune(gemm(8), {}, true), std::runtime_error);
}

TEST_F(ContextMissTest, AnOpWithoutDefaultIsNotTuned) {
  restart();
  GemmProblem problem = gemm_problem(4, 4, 4);
  problem.header.device_type = DeviceType::kCuda;
  problem.header.threads = 0;
  EXPECT_THROW(choice(to_key(problem)), std::invalid_argument)
      << "there is no backend";
}

}  // namespace
}  // namespace tunedops
