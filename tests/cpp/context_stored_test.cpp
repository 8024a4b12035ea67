// A product that has a row: the row decides, whoever wrote it. It is never
// tuned over, and if it cannot be used it is said once, with its line, and
// means Default.

#include "context_fixture.h"

namespace tunedops {
namespace {

using ContextStoredTest = ContextTest;

TEST_F(ContextStoredTest, IsUsedAndNeverTunedAgain) {
  write_csv(row(8, "Gemm_Slow"));
  FakeKernel& slow = add({.name = "Gemm_Slow", .ms = 9.0});
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.1});
  EXPECT_EQ(choice(gemm()), "Gemm_Slow");
  EXPECT_EQ(slow.runs() + fast.runs() + standard().runs(), 0);
  EXPECT_EQ(read_text(csv()), kValidators + row(8, "Gemm_Slow"));
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextStoredTest, OfTheToyOpToo) {
  write_csv("ScaleTunableOp_float,n_100,Scale_Fast_tile_2\n");
  add({.name = "Scale_Fast", .configs = {Config().with("tile", 2)}},
      scale_op());
  EXPECT_EQ(choice(scale_problem(100)), "Scale_Fast_tile_2");
  EXPECT_TRUE(warnings().empty());
}

// Who writes Default by hand means it.
TEST_F(ContextStoredTest, DefaultByHandIsNotTunedOver) {
  write_csv("# it gave other numbers\n" + row(8, "Default"));
  FakeKernel& fast = add({.name = "Gemm_Fast", .ms = 0.1});
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(fast.runs(), 0);
  EXPECT_EQ(choice(gemm(9)), "Gemm_Fast");
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(rows_of_csv(),
            (std::vector<std::string>{row(8, "Default"), row(9, "Gemm_Fast")}));
  EXPECT_NE(
      read_text(csv()).find("# it gave other numbers\n" + row(8, "Default")),
      std::string::npos);
}

TEST_F(ContextStoredTest, AnUnusableSolutionIsSaidOnceAndKeptAsWritten) {
  add({.name = "Gemm_Tiled", .configs = {Config().with("tile", 1)}});
  add({.name = "Gemm_Unable",
       .fault = Fault::kUnsupported,
       .reason = "needs K to be even"});
  add({.name = "Gemm_Declines", .fault = Fault::kDeclines});
  add({.name = "Gemm_Empty", .configs = {}});
  const std::map<std::string, std::string> reasons{
      {"Gemm_Unknown",
       "no kernel here has that name; there are Default, Gemm_Tiled, "
       "Gemm_Unable, Gemm_Declines, Gemm_Empty"},
      {"Gemm_Tiled_tile_x",
       "what follows the kernel's name is no config; one that it has for this "
       "problem is 'Gemm_Tiled_tile_1'"},
      {"Gemm_Tiled_tile_2",
       "is not a config of this kernel; one that it has for this problem is "
       "'Gemm_Tiled_tile_1'"},
      {"Gemm_Unable_tile_x", "what follows the kernel's name is no config"},
      {"Gemm_Empty", "has no config for this problem"},
      {"Gemm_Unable", "needs K to be even"},
      {"Gemm_Declines", "the library declines it"},
  };
  std::string text;
  std::int64_t n = 1;
  for (const auto& [solution, reason] : reasons) {
    text += row(n++, solution);
  }
  write_csv(text);
  n = 1;
  for (const auto& [solution, reason] : reasons) {
    const KeyText key = context().key_text(gemm(n));
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(choice(gemm(n)), "Default") << solution;
      context().set_setting("VERBOSE", "0");
    }
    ASSERT_EQ(warnings().size(), static_cast<std::size_t>(n)) << solution;
    EXPECT_EQ(warnings().back(),
              "tunedops: " + csv() + ':' + std::to_string(n + 2) +
                  ": solution '" + solution + "' of '" + key.op + ',' +
                  key.params + "' cannot be used and means Default: " + reason);
    ++n;
  }
  EXPECT_EQ(standard().runs(), 0) << "nothing was tuned over";
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(read_text(csv()), kValidators + text);
}

// Who writes a row by hand need not know the parameters of a kernel.
TEST_F(ContextStoredTest, AKernelNamedWithoutAConfigTakesItsBestGuess) {
  write_csv(row(8, "Gemm_Tiled"));
  const Config best = Config().with("tile", 3);
  add({.name = "Gemm_Tiled", .configs = {best, Config().with("tile", 1)}});
  EXPECT_EQ(choice(gemm()), "Gemm_Tiled_tile_3");
  EXPECT_TRUE(warnings().empty());
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Gemm_Tiled")});
}

TEST_F(ContextStoredTest, RowsThatAreNoProblemAreSaidOnceWithTheirLines) {
  write_csv("GemmTunableOp_float_NN,nn_0_0_0_ld_0_0_0,Default\n"
            "Unknown,n_1,Default\n" +
            row(8, "Default"));
  choice(gemm());
  choice(gemm(9));
  EXPECT_EQ(warnings(),
            (std::vector<std::string>{
                "tunedops: " + csv() +
                    ":3: 'GemmTunableOp_float_NN,"
                    "nn_0_0_0_ld_0_0_0' is not a problem of this device and is "
                    "ignored: sizes are 1 at least",
                "tunedops: " + csv() +
                    ":4: 'Unknown,n_1' is not a problem of "
                    "this device and is ignored"}));
}

TEST_F(ContextStoredTest, RowsWithSuffixesAreProblems) {
  GemmProblem problem = gemm_problem(6, 8, 4);
  problem.align_a = 4;
  problem.activation = Activation::kGelu;
  problem.beta = ScalarClass::kOne;
  const KeyText key = gemm_op().definition.to_text(to_key(problem));
  write_csv(key.op + ',' + key.params + ",Default\n");
  EXPECT_EQ(choice(to_key(problem)), "Default");
  EXPECT_TRUE(warnings().empty()) << warnings()[0];
}

TEST_F(ContextStoredTest, ASecondProcessRepeatsTheChoicesWithoutTuning) {
  const auto add_kernels = [this] {
    add({.name = "Gemm_Fast",
         .configs = {Config().with("tile", 1), Config().with("tile", 2)},
         .ms_of = [](const Config& c) {
           return c.at("tile") == 1 ? 0.5 : 0.7;
         }});
    add({.name = "Scale_Fast", .ms = 0.5}, scale_op());
  };
  const auto choices = [this] {
    std::vector<std::string> all;
    for (std::int64_t n = 1; n <= 20; ++n) {
      all.push_back(choice(gemm(n)));
    }
    all.push_back(choice(scale_problem(7)));
    return all;
  };
  add_kernels();
  const std::vector<std::string> first = choices();
  EXPECT_EQ(first.front(), "Gemm_Fast_tile_1");
  EXPECT_EQ(first.back(), "Scale_Fast");
  context().on_exit();

  restart({{"TUNING", "0"}, {"ON_MISS", "error"}});
  add_kernels();
  EXPECT_EQ(choices(), first);
  EXPECT_EQ(standard().runs(), 0);
  EXPECT_TRUE(warnings().empty());
}

TEST_F(ContextStoredTest, AFileOfAnotherEnvironmentIsLeftAndOursFoundNext) {
  const std::string foreign =
      "Validator,DEVICE,another\n# theirs\n" + row(8, "Gemm_Fast");
  write_text(csv(), foreign);
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  const std::string ours = context().filename({});
  EXPECT_EQ(ours, path("results_cpu." + device_.validators.digest() + ".csv"));
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_EQ(
      warnings()[0],
      "tunedops: results file '" + csv() +
          "' is not used: validator "
          "DEVICE is 'another' in the file and 'fake' here; results of this "
          "environment are kept in '" +
          ours + "'");
  EXPECT_EQ(read_text(csv()), foreign);

  restart({{"TUNING", "0"}});
  add({.name = "Gemm_Fast", .ms = 0.5});
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_TRUE(warnings().empty());
  EXPECT_EQ(read_text(csv()), foreign);
}

TEST_F(ContextStoredTest, AnAddedValidatorCounts) {
  write_csv(row(8, "Gemm_Fast"));
  add({.name = "Gemm_Fast", .ms = 0.5});
  context().add_validator(DeviceType::kCpu, "PT_VERSION",
                          [](Device) { return std::string("2.14"); });
  context().add_validator(DeviceType::kCuda, "CUDA", [](Device) {
    ADD_FAILURE() << "that is another device";
    return std::string("13");
  });
  EXPECT_EQ(context().validators({}).entries().at("PT_VERSION"), "2.14");
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm(8)), "Default");
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_NE(warnings()[0].find("validator PT_VERSION is missing in the file"),
            std::string::npos);
}

TEST_F(ContextStoredTest, CheckingAFileSaysAllThatWouldBeIgnored) {
  add({.name = "Gemm_Fast"});
  const std::string file = path("check.csv");
  write_text(file, kValidators + row(1, "Gemm_Fast") + row(2, "Default"));
  EXPECT_TRUE(context().check_file({}, file).empty());
  write_text(file, "Validator,DEVICE,another\n" + row(1, "Gemm_Gone") +
                       "Unknown,n_1,Default\nbroken\n" +
                       row(2, "Default,fast"));
  EXPECT_EQ(context().check_file({}, file),
            (std::vector<std::string>{
                file + ": validator DEVICE is 'another' in the file and "
                       "'fake' here",
                file + ":2: solution 'Gemm_Gone' cannot be used: no kernel "
                       "here has that name; there are Default, Gemm_Fast",
                file + ":3: 'Unknown,n_1' is not a problem of this device and "
                       "is ignored",
                file + ":4: is not 'op,params,solution[,time_ms[,...]]' and "
                       "is ignored",
                file + ":5: time 'fast' is no number of milliseconds"}));
  EXPECT_EQ(
      context().check_file({}, path("none.csv")),
      std::vector<std::string>{"'" + path("none.csv") + "' does not exist"});
  EXPECT_TRUE(context().results({}).empty()) << "nothing was taken over";
}

TEST_F(ContextStoredTest, APlanThatCannotRunIsSaidOnce) {
  for (int i = 0; i < 3; ++i) {
    context().report_failed_run(gemm(), Status::failed("misaligned address"));
  }
  const KeyText key = context().key_text(gemm());
  EXPECT_EQ(warnings(),
            std::vector<std::string>{"tunedops: the chosen solution of '" +
                                     key.op + ',' + key.params +
                                     "' could not run (misaligned "
                                     "address); Default ran instead"});
}

TEST_F(ContextStoredTest, APlanThatMayHaveWrittenAPartIsAnError) {
  const KeyText key = context().key_text(gemm());
  for (int i = 0; i < 2; ++i) {
    try {
      context().throw_failed_run(gemm(), Status::failed("interrupted"));
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()),
                "tunedops: the chosen solution of '" + key.op + ',' +
                    key.params +
                    "' failed (interrupted) and may have written a part of the "
                    "output, which held what the product is added to; compute "
                    "it again from the former contents of the output");
    }
  }
  EXPECT_TRUE(warnings().empty());
}

}  // namespace
}  // namespace tunedops
