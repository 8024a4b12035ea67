// A file of another environment, of another user, or of nobody knows whom is
// left byte for byte as it is; our results go beside it and are found there.

#include <sys/stat.h>

#include "fakes.h"
#include "tuning/results_file.h"

namespace tunedops {
namespace {

constexpr const char* kForeign =
    "Validator,DEVICE,another\r\n# precious\nGemm,nn_1,A\nGemm,nn_2,torn";

class ResultsFileEnvironmentTest : public TempFolderTest {
 protected:
  ResultsFileEnvironmentTest() { validators_.add("DEVICE", "fake"); }

  std::string csv() const { return path("results.csv"); }
  std::string beside() const {
    return path("results." + validators_.digest() + ".csv");
  }

  void put(ResultsFile& file, const std::string& params) {
    CsvRow row;
    row.key = {"Gemm", params};
    row.solution = "B";
    file.put(row, true, notices_);
  }

  Validators validators_;
  Notices notices_;
};

TEST_F(ResultsFileEnvironmentTest, IsExplainedAndLeftAlone) {
  write_text(csv(), kForeign);
  ResultsFile file(csv(), validators_);
  EXPECT_FALSE(file.load(notices_));
  EXPECT_TRUE(file.rows().empty());
  EXPECT_EQ(notices_,
            Notices{"results file '" + csv() +
                    "' is not used: validator DEVICE is 'another' in the file "
                    "and 'fake' here; results of this environment are kept in "
                    "'" +
                    beside() + "'"});
  EXPECT_EQ(file.path(), csv());
  EXPECT_EQ(file.active_path(), beside());
  EXPECT_FALSE(exists(beside())) << "nothing was won yet";

  put(file, "nn_1");
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(read_text(csv()), kForeign);
  EXPECT_EQ(read_text(beside()), "Validator,DEVICE,fake\nGemm,nn_1,B\n");
  EXPECT_EQ(notices_.size(), 1U);
}

TEST_F(ResultsFileEnvironmentTest, OursIsFoundFirstNextTime) {
  write_text(csv(), kForeign);
  {
    ResultsFile file(csv(), validators_);
    file.load(notices_);
    put(file, "nn_1");
  }
  notices_.clear();
  ResultsFile again(csv(), validators_);
  EXPECT_TRUE(again.load(notices_));
  EXPECT_TRUE(notices_.empty()) << notices_[0];
  EXPECT_EQ(again.active_path(), beside());
  ASSERT_NE(again.find({"Gemm", "nn_1"}), nullptr);
  put(again, "nn_2");
  EXPECT_EQ(read_text(beside()),
            "Validator,DEVICE,fake\nGemm,nn_1,B\nGemm,nn_2,B\n");
  EXPECT_EQ(read_text(csv()), kForeign);
}

TEST_F(ResultsFileEnvironmentTest, TwoEnvironmentsShareAName) {
  Validators other;
  other.add("DEVICE", "another");
  write_text(csv(), "Validator,DEVICE,another\nGemm,nn_1,A\n");
  ResultsFile ours(csv(), validators_);
  ResultsFile theirs(csv(), other);
  EXPECT_FALSE(ours.load(notices_));
  EXPECT_TRUE(theirs.load(notices_));
  put(ours, "nn_2");
  put(theirs, "nn_3");
  EXPECT_EQ(read_text(csv()),
            "Validator,DEVICE,another\nGemm,nn_1,A\nGemm,nn_3,B\n");
  EXPECT_EQ(read_text(beside()), "Validator,DEVICE,fake\nGemm,nn_2,B\n");
}

TEST_F(ResultsFileEnvironmentTest, AnyDifferenceRejectsTheWholeFile) {
  for (const std::string& header :
       {std::string(), std::string("Validator,DEVICE,fake\nValidator,X,1\n"),
        std::string("Validator,device,fake\n"),
        std::string("Validator,DEVICE,fake \nValidator,DEVICE,b\n")}) {
    write_text(csv(), header + "Gemm,nn_1,A\n");
    ResultsFile file(csv(), validators_);
    EXPECT_FALSE(file.load(notices_)) << header;
    EXPECT_TRUE(file.rows().empty()) << header;
  }
}

TEST_F(ResultsFileEnvironmentTest, ExactReadingLooksAtThatFileOnly) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  write_text(beside(), "Validator,DEVICE,fake\nGemm,nn_1,B\n");
  ResultsFile usual(csv(), validators_);
  EXPECT_TRUE(usual.load(notices_));
  EXPECT_EQ(usual.find({"Gemm", "nn_1"})->solution, "B");
  ResultsFile exact(csv(), validators_);
  EXPECT_TRUE(exact.load(notices_, true));
  EXPECT_EQ(exact.find({"Gemm", "nn_1"})->solution, "A");
}

TEST_F(ResultsFileEnvironmentTest, AFileThatOthersCanWriteIsNotUsed) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  ASSERT_EQ(::chmod(csv().c_str(), 0666), 0);
  ResultsFile file(csv(), validators_);
  EXPECT_FALSE(file.load(notices_));
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_EQ(notices_[0], "results file is not used: '" + csv() +
                             "' can be written by others (chmod go-w it)");
  EXPECT_EQ(file.find({"Gemm", "nn_1"}), nullptr);
  put(file, "nn_2");
  EXPECT_EQ(read_text(csv()), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  EXPECT_EQ(read_text(beside()), "Validator,DEVICE,fake\nGemm,nn_2,B\n");
}

// Between reading and saving, somebody put another file in its place: ours goes
// on beside it, with all that memory holds.
TEST_F(ResultsFileEnvironmentTest, AFileThatBecameForeignIsLeftAlone) {
  ResultsFile file(csv(), validators_);
  EXPECT_TRUE(file.load(notices_));
  put(file, "nn_1");
  write_text(csv(), kForeign);
  put(file, "nn_2");
  put(file, "nn_3");
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(read_text(csv()), kForeign);
  EXPECT_EQ(file.active_path(), beside());
  EXPECT_EQ(read_text(beside()),
            "Validator,DEVICE,fake\nGemm,nn_1,B\nGemm,nn_2,B\nGemm,nn_3,B\n");
  EXPECT_EQ(notices_,
            Notices{"results are not saved in '" + csv() +
                    "': validator DEVICE is 'another' in the file and 'fake' "
                    "here; they are kept in '" +
                    beside() + "'"});
}

TEST_F(ResultsFileEnvironmentTest, SavesIntoNoForeignFile) {
  write_text(csv(), kForeign);
  ResultsFile file(path("ours.csv"), validators_);
  put(file, "nn_1");
  EXPECT_FALSE(file.save_as(csv(), notices_));
  EXPECT_EQ(read_text(csv()), kForeign);
  EXPECT_EQ(notices_.size(), 1U);
}

}  // namespace
}  // namespace tunedops
