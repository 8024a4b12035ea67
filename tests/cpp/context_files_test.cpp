// What a program does with its results: look, write, read, forget, rename.

#include <stdexcept>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextFilesTest : public ContextTest {
 protected:
  void tune_with_fast_kernel(std::int64_t n = 8) {
    if (fast_ == nullptr) {
      fast_ = &add({.name = "Gemm_Fast", .ms = 0.5});
    }
    EXPECT_EQ(choice(gemm(n)), "Gemm_Fast");
  }

  FakeKernel* fast_ = nullptr;
};

TEST_F(ContextFilesTest, ResultsAreSortedRows) {
  tune_with_fast_kernel(9);
  tune_with_fast_kernel(8);
  const std::vector<CsvRow> rows = context().results({});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key, context().key_text(gemm(8)));
  EXPECT_EQ(rows[0].solution, "Gemm_Fast");
  EXPECT_EQ(rows[0].time_ms(), 0.5);
  EXPECT_EQ(rows[0].default_ms(), 1.0);
  EXPECT_EQ(rows[0].timing(), "fake");
  EXPECT_EQ(rows[0].samples(), 100);
  EXPECT_EQ(rows[0].spread(), 0);
  EXPECT_EQ(rows[0].margin(), 0.01);
  EXPECT_EQ(rows[0].date(), "2030-01-31");
  EXPECT_EQ(context().stored(gemm(9))->solution, "Gemm_Fast");
  EXPECT_EQ(context().stored(gemm(10)), std::nullopt);
}

TEST_F(ContextFilesTest, WritingMergesWithWhatOthersWrote) {
  tune_with_fast_kernel(8);
  write_text(csv(), read_text(csv()) + "# by hand\n" + row(7, "Default"));
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(rows_of_csv(),
            (std::vector<std::string>{row(7, "Default"), row(8, "Gemm_Fast")}));
  EXPECT_EQ(choice(gemm(7)), "Default") << "their row is used from now on";
}

// Each row says when its own process tuned it, or nothing.
TEST_F(ContextFilesTest, WhatARowSaysOfItselfSurvivesOtherProcesses) {
  tune_with_fast_kernel(8);
  write_text(csv(), read_text(csv()) + row(7, "Default"));
  restart();
  device_.calendar_time += std::chrono::hours(24);
  fast_ = nullptr;
  tune_with_fast_kernel(9);
  EXPECT_TRUE(context().write_file());
  const auto line = [](std::int64_t n, const std::string& rest) {
    std::string text = row(n, "Gemm_Fast");
    text.pop_back();
    return text + rest + '\n';
  };
  EXPECT_EQ(read_text(csv()), kValidators + row(7, "Default") +
                                  line(8, ",0.5,1,fake,100,0,0.01,2030-01-31") +
                                  line(9, ",0.5,1,fake,100,0,0.01,2030-02-01"));
}

TEST_F(ContextFilesTest, AnEditOnDiskIsUsedAfterWriting) {
  tune_with_fast_kernel(8);
  write_csv(row(8, "Default"));
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast") << "nobody looked yet";
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(read_text(csv()), kValidators + row(8, "Default"));
}

// A win finds that the file was edited: what it takes over counts at once.
TEST_F(ContextFilesTest, AnEditOnDiskIsUsedAfterAWin) {
  tune_with_fast_kernel(8);
  write_csv(row(8, "Default"));
  tune_with_fast_kernel(9);
  EXPECT_EQ(choice(gemm(8)), "Default");
}

TEST_F(ContextFilesTest, ReadingAgainTakesEdits) {
  tune_with_fast_kernel(8);
  tune_with_fast_kernel(9);
  write_csv(row(8, "Default"));
  EXPECT_TRUE(context().read_file({}, {}));
  EXPECT_EQ(choice(gemm(8)), "Default");
  const int runs = fast_->runs();
  EXPECT_EQ(choice(gemm(9)), "Gemm_Fast");
  EXPECT_GT(fast_->runs(), runs) << "its row was deleted, so it is a miss";
}

TEST_F(ContextFilesTest, ReadsAnotherFileIntoTheResults) {
  write_text(path("other.csv"), kValidators + row(8, "Gemm_Fast"));
  context().set_setting("TUNING", "0");
  add({.name = "Gemm_Fast"});
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_TRUE(context().read_file({}, path("other.csv")));
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_FALSE(exists(csv())) << "reading writes nothing";
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Gemm_Fast")});
}

TEST_F(ContextFilesTest, ReadsNoFileThatIsNotOurs) {
  write_text(path("other.csv"), "Validator,DEVICE,x\n" + row(8, "Default"));
  EXPECT_FALSE(context().read_file({}, path("other.csv")));
  EXPECT_FALSE(context().read_file({}, path("none.csv")));
  EXPECT_TRUE(context().results({}).empty());
  ASSERT_EQ(warnings().size(), 2U);
  EXPECT_EQ(warnings()[1],
            "tunedops: results file '" + path("none.csv") + "' does not exist");
}

TEST_F(ContextFilesTest, WritesACopyElsewhere) {
  tune_with_fast_kernel(8);
  EXPECT_TRUE(context().write_file({}, path("copy.csv")));
  EXPECT_EQ(read_text(path("copy.csv")), read_text(csv()));
  EXPECT_FALSE(context().write_file({}, path("missing/copy.csv")));
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_TRUE(warnings()[0].starts_with("tunedops: results are not saved: "));
}

TEST_F(ContextFilesTest, ErasingMakesAMissOfIt) {
  tune_with_fast_kernel(8);
  const KeyText key = context().key_text(gemm(8));
  EXPECT_TRUE(context().erase({}, key));
  EXPECT_FALSE(context().erase({}, key));
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(read_text(csv()), kValidators);
}

TEST_F(ContextFilesTest, ClearingForgetsAndLeavesTheFile) {
  tune_with_fast_kernel(8);
  const std::string text = read_text(csv());
  context().clear();
  EXPECT_TRUE(context().results({}).empty());
  EXPECT_EQ(read_text(csv()), text);
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm(8)), "Default");
  context().on_exit();
  EXPECT_EQ(read_text(csv()), text);
  EXPECT_TRUE(context().read_file({}, {}));
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
}

TEST_F(ContextFilesTest, ClearingForgetsWinsOfEarlierNamesToo) {
  tune_with_fast_kernel(8);
  context().set_filename(path("second.csv"), true);
  context().clear();
  EXPECT_TRUE(context().results({}).empty());
}

TEST_F(ContextFilesTest, ExitSavesOnlyAfterAWin) {
  write_csv(row(9, "Default") + row(8, "Default"));
  const FileStamp before = stamp_of(csv());
  EXPECT_EQ(choice(gemm(8)), "Default");
  context().on_exit();
  EXPECT_EQ(stamp_of(csv()), before) << "it was not even sorted";
  tune_with_fast_kernel(7);
  context().set_write_file_on_exit(false);
  context().on_exit();
  EXPECT_EQ(rows_of_csv()[0], row(9, "Default"));
  context().set_write_file_on_exit(true);
  context().on_exit();
  EXPECT_EQ(rows_of_csv(),
            (std::vector<std::string>{row(7, "Gemm_Fast"), row(8, "Default"),
                                      row(9, "Default")}));
}

TEST_F(ContextFilesTest, AnUnwritableFileCostsAWarningAndNoResult) {
  context().set_filename(path("missing/results.csv"), true);
  tune_with_fast_kernel(8);
  tune_with_fast_kernel(8);
  ASSERT_EQ(warnings().size(), 1U);
  EXPECT_TRUE(warnings()[0].starts_with("tunedops: a result is not saved: "));
  EXPECT_FALSE(context().write_file());
}

TEST_F(ContextFilesTest, ANewNameTakesTheWinsAlong) {
  tune_with_fast_kernel(8);
  const int runs = fast_->runs();
  context().set_filename(path("second.csv"), true);
  EXPECT_EQ(context().filename({}), path("second_cpu.csv"));
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(fast_->runs(), runs);
  EXPECT_TRUE(context().write_file());
  EXPECT_EQ(read_text(path("second_cpu.csv")), read_text(csv()));
  EXPECT_EQ(context().setting("FILENAME"), path("second.csv"));
  EXPECT_THROW(context().set_filename("", true), std::invalid_argument);
}

TEST_F(ContextFilesTest, TheNameIsASettingLikeOthers) {
  context().set_setting("FILENAME", path("third.csv"));
  EXPECT_EQ(context().filename({}), path("third_cpu.csv"));
  tune_with_fast_kernel(8);
  EXPECT_TRUE(exists(path("third_cpu.csv")));
  EXPECT_FALSE(exists(csv()));
}

TEST_F(ContextFilesTest, TheNameOfTheEnvironmentWins) {
  restart({{"FILENAME", path("env.csv")}});
  context().set_filename(path("api.csv"), false);
  EXPECT_EQ(context().filename({}), path("env_cpu.csv"));
  EXPECT_EQ(warnings(), std::vector<std::string>{
                            "tunedops: TUNEDOPS_FILENAME=" + path("env.csv") +
                            " is set in the environment and wins over "
                            "set_filename('" +
                            path("api.csv") + "')"});
}

TEST_F(ContextFilesTest, EachDeviceHasItsFileAndItsResults) {
  constexpr Device kGpu{DeviceType::kCuda, 1};
  device_.tags[kGpu] = "1";
  context().register_backend(DeviceType::kCuda,
                             std::make_unique<FakeBackend>(device_));
  context().kernels().register_kernel<FakeKernel>(kGemmOp, device_, gemm_op(),
                                                  Behaviour{.name = "Default"},
                                                  DeviceType::kCuda);
  context().kernels().register_kernel<FakeKernel>(
      kGemmOp, device_, gemm_op(), Behaviour{.name = "Gemm_Gpu", .ms = 0.5},
      DeviceType::kCuda);
  tune_with_fast_kernel(8);
  GemmProblem problem = gemm_problem(6, 8, 4);
  problem.header.threads = 0;
  problem.header.device_type = kGpu.type;
  problem.header.device_index = kGpu.index;
  EXPECT_EQ(choice(to_key(problem)), "Gemm_Gpu");
  EXPECT_EQ(context().filename(kGpu), path("results1.csv"));
  ASSERT_EQ(context().results(kGpu).size(), 1U);
  EXPECT_EQ(context().results(kGpu)[0].solution, "Gemm_Gpu");
  EXPECT_EQ(context().results({}).size(), 1U);
  EXPECT_EQ(rows_of_csv(), std::vector<std::string>{row(8, "Gemm_Fast")});
}

}  // namespace
}  // namespace tunedops
