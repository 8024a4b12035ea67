// Which file serves which device: by the name and the device alone, never by
// which device was used first (two ranks once wrote one file that way).

#include "tuning/results_store.h"

#include "fakes.h"

namespace tunedops {
namespace {

constexpr Device kCpu{DeviceType::kCpu, 0};
constexpr Device kGpu0{DeviceType::kCuda, 0};
constexpr Device kGpu1{DeviceType::kCuda, 1};

class ResultsStoreTest : public TempFolderTest {
 protected:
  ResultsStoreTest() { validators_.add("DEVICE", "fake"); }

  std::string path_for(Device device) {
    static const std::map<Device, std::string> tags{
        {kCpu, "_cpu"}, {kGpu0, "0"}, {kGpu1, "1"}};
    return store_.path_for(device, tags.at(device), notices_);
  }

  ResultsFile& open(Device device, const std::string& tag) {
    return store_.open(device, tag, validators_, notices_);
  }

  static CsvRow row(const std::string& params, bool won_here) {
    CsvRow row;
    row.key = {"Gemm", params};
    row.solution = "A";
    row.won_here = won_here;
    return row;
  }

  ResultsStore store_;
  Validators validators_;
  Notices notices_;
};

TEST(InsertDeviceTag, GoesToThePlaceholderOrBeforeTheExtension) {
  EXPECT_EQ(insert_device_tag("r.csv", "0"), "r0.csv");
  EXPECT_EQ(insert_device_tag("r.csv", "_cpu"), "r_cpu.csv");
  EXPECT_EQ(insert_device_tag("r", "0"), "r0");
  EXPECT_EQ(insert_device_tag("a.b/r", "0"), "a.b/r0");
  EXPECT_EQ(insert_device_tag("r.tar.gz", "0"), "r.tar0.gz");
  EXPECT_EQ(insert_device_tag("%d/r.csv", "0"), "0/r.csv");
  EXPECT_EQ(insert_device_tag("r_%d_%d.csv", "0"), "r_0_%d.csv");
}

TEST_F(ResultsStoreTest, TheDefaultNameTakesTheDevice) {
  EXPECT_EQ(path_for(kGpu1), "tunedops_results1.csv");
  EXPECT_EQ(path_for(kGpu0), "tunedops_results0.csv");
  EXPECT_EQ(path_for(kCpu), "tunedops_results_cpu.csv");
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsStoreTest, APlaceholderTakesTheDeviceEvenOfAnExactName) {
  for (const bool insert : {false, true}) {
    store_.set_filename("r_%d.csv", insert);
    EXPECT_EQ(path_for(kGpu1), "r_1.csv");
    EXPECT_EQ(path_for(kGpu0), "r_0.csv");
  }
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsStoreTest, AnExactNameServesOneDeviceAndWarnsOfASecond) {
  store_.set_filename("r.csv", false);
  EXPECT_EQ(path_for(kGpu0), "r.csv");
  EXPECT_EQ(path_for(kGpu0), "r.csv");
  EXPECT_TRUE(notices_.empty());
  EXPECT_EQ(path_for(kCpu), "r_cpu.csv");
  EXPECT_EQ(notices_,
            Notices{"results file 'r.csv' serves the device that used it "
                    "first; another one takes 'r_cpu.csv' (put %d into the "
                    "name to choose)"});
  EXPECT_EQ(path_for(kGpu0), "r.csv");
}

TEST_F(ResultsStoreTest, ANewNameIsFreeAgain) {
  store_.set_filename("r.csv", false);
  path_for(kGpu0);
  store_.set_filename("s.csv", false);
  EXPECT_EQ(path_for(kGpu1), "s.csv");
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsStoreTest, OpensAFileOnce) {
  store_.set_filename(path("r.csv"), true);
  EXPECT_EQ(store_.find(kGpu0), nullptr);
  ResultsFile& file = open(kGpu0, "0");
  EXPECT_EQ(file.path(), path("r0.csv"));
  EXPECT_EQ(&open(kGpu0, "0"), &file);
  EXPECT_EQ(store_.find(kGpu0), &file);
  EXPECT_EQ(store_.find(kGpu1), nullptr);
  EXPECT_NE(&open(kGpu1, "1"), &file);
  EXPECT_EQ(store_.files().size(), 2U);
}

TEST_F(ResultsStoreTest, DevicesDoNotShareRows) {
  store_.set_filename(path("r.csv"), true);
  open(kGpu0, "0").put(row("nn_1", true), true, notices_);
  EXPECT_TRUE(open(kGpu1, "1").rows().empty());
  EXPECT_TRUE(exists(path("r0.csv")));
  EXPECT_FALSE(exists(path("r1.csv")));
}

TEST_F(ResultsStoreTest, WinsMoveToANewNameAndWhatWasReadDoesNot) {
  write_text(path("a_cpu.csv"), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  write_text(path("b_cpu.csv"), "Validator,DEVICE,fake\nGemm,nn_3,Edited\n");
  store_.set_filename(path("a.csv"), true);
  open(kCpu, "_cpu").put(row("nn_2", true), false, notices_);
  open(kCpu, "_cpu").put(row("nn_3", true), false, notices_);
  store_.set_filename(path("b.csv"), true);
  const ResultsFile& file = open(kCpu, "_cpu");
  EXPECT_EQ(file.find({"Gemm", "nn_1"}), nullptr);
  ASSERT_NE(file.find({"Gemm", "nn_2"}), nullptr);
  EXPECT_EQ(file.find({"Gemm", "nn_3"})->solution, "Edited");
  EXPECT_EQ(read_text(path("a_cpu.csv")),
            "Validator,DEVICE,fake\nGemm,nn_1,A\n");
}

}  // namespace
}  // namespace tunedops
