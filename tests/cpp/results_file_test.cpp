// A results file has many authors: this process, others, and people. None of
// them may lose what another wrote.

#include "tuning/results_file.h"

#include <sys/stat.h>

#include "fakes.h"

namespace tunedops {
namespace {

class ResultsFileTest : public TempFolderTest {
 protected:
  ResultsFileTest() { validators_.add("DEVICE", "fake"); }

  std::string csv() const { return path("results.csv"); }
  std::string text() const { return read_text(csv()); }

  ResultsFile open() {
    ResultsFile file(csv(), validators_);
    EXPECT_TRUE(file.load(notices_)) << notices_.back();
    return file;
  }

  static CsvRow row(const std::string& params, const std::string& solution) {
    CsvRow row;
    row.key = {"Gemm", params};
    row.solution = solution;
    return row;
  }

  void put(ResultsFile& file, const std::string& params,
           const std::string& solution, bool persist = true) {
    file.put(row(params, solution), persist, notices_);
  }

  static std::string solution(const ResultsFile& file,
                              const std::string& params) {
    const CsvRow* found = file.find({"Gemm", params});
    return found == nullptr ? "none" : found->solution;
  }

  Validators validators_;
  Notices notices_;
};

TEST_F(ResultsFileTest, AMissingFileIsAcceptedAndNotMade) {
  const ResultsFile file = open();
  EXPECT_EQ(file.active_path(), csv());
  EXPECT_TRUE(file.rows().empty());
  EXPECT_FALSE(exists(csv()));
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsFileTest, KeepsEachWinAtOnce) {
  ResultsFile file = open();
  put(file, "nn_2", "A");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_2,A\n");
  const FileStamp first = stamp_of(csv());
  put(file, "nn_1", "B");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_2,A\nGemm,nn_1,B\n");
  EXPECT_EQ(stamp_of(csv()).inode, first.inode) << "a win is one append";
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsFileTest, AnotherProcessReadsWhatWasKept) {
  ResultsFile file = open();
  put(file, "nn_1", "A");
  put(file, "nn_2", "Default");
  const ResultsFile other = open();
  EXPECT_EQ(solution(other, "nn_1"), "A");
  EXPECT_EQ(solution(other, "nn_2"), "Default");
  EXPECT_EQ(other.find({"Gemm", "nn_1"})->line, 2U);
}

TEST_F(ResultsFileTest, WithoutPersistenceNothingIsWritten) {
  ResultsFile file = open();
  put(file, "nn_1", "A", false);
  EXPECT_EQ(solution(file, "nn_1"), "A");
  EXPECT_FALSE(exists(csv()));
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
}

TEST_F(ResultsFileTest, SavingSortsAndKeepsComments) {
  write_text(csv(),
             "# mine\nValidator,DEVICE,fake\n# why\nGemm,nn_2,A,0.5\n# end\n");
  ResultsFile file = open();
  put(file, "nn_1", "B");
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(text(), "# mine\nValidator,DEVICE,fake\nGemm,nn_1,B\n# why\n"
                    "Gemm,nn_2,A,0.5\n# end\n");
  const FileStamp before = stamp_of(csv());
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(stamp_of(csv()), before) << "there was nothing to change";
}

TEST_F(ResultsFileTest, ANewResultTakesThePlaceOfAnOldOne) {
  write_text(csv(), "Validator,DEVICE,fake\n# why\nGemm,nn_1,A,0.5\n");
  ResultsFile file = open();
  put(file, "nn_1", "B");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\n# why\nGemm,nn_1,B\n");
}

TEST_F(ResultsFileTest, TwoProcessesLoseNothing) {
  ResultsFile first = open();
  ResultsFile second = open();
  put(first, "nn_1", "A");
  put(second, "nn_2", "B");
  put(first, "nn_3", "C");
  put(second, "nn_4", "D");
  EXPECT_TRUE(first.save(notices_));
  EXPECT_EQ(text(),
            "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,B\nGemm,nn_3,C\n"
            "Gemm,nn_4,D\n");
  EXPECT_EQ(solution(first, "nn_4"), "D");
  EXPECT_TRUE(notices_.empty());
}

TEST_F(ResultsFileTest, ARowChangedOnDiskBeatsMemory) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,A\n");
  ResultsFile file = open();
  put(file, "nn_2", "B", false);
  write_text(csv(), "Validator,DEVICE,fake\n# by hand\nGemm,nn_1,Default\n"
                    "Gemm,nn_2,A\n");
  bool adopted = false;
  EXPECT_TRUE(file.save(notices_, &adopted));
  EXPECT_TRUE(adopted);
  EXPECT_EQ(solution(file, "nn_1"), "Default");
  EXPECT_EQ(solution(file, "nn_2"), "B") << "nobody else changed that one";
  EXPECT_EQ(text(), "Validator,DEVICE,fake\n# by hand\nGemm,nn_1,Default\n"
                    "Gemm,nn_2,B\n");
  EXPECT_TRUE(file.save(notices_, &adopted));
  EXPECT_FALSE(adopted);
}

TEST_F(ResultsFileTest, ARowDeletedOnDiskIsGone) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,A\n");
  ResultsFile file = open();
  put(file, "nn_3", "C", false);
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_2,A\n");
  bool adopted = false;
  EXPECT_TRUE(file.save(notices_, &adopted));
  EXPECT_TRUE(adopted);
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_2,A\nGemm,nn_3,C\n");
  EXPECT_EQ(solution(file, "nn_1"), "none");
}

// A whole file that is gone is an accident, and no wish to lose every row.
TEST_F(ResultsFileTest, AFileThatIsGoneIsWrittenAgain) {
  ResultsFile file = open();
  put(file, "nn_1", "A");
  std::filesystem::remove(csv());
  put(file, "nn_2", "B");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,B\n");
  write_text(csv(), "");
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,B\n");
}

TEST_F(ResultsFileTest, ARelativeNameIsMeantFromWhereItWasGiven) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path("."));
  ResultsFile file("results.csv", validators_);
  std::filesystem::current_path(before);
  put(file, "nn_1", "A");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
}

TEST_F(ResultsFileTest, ReadingAgainTakesEditsAndDeletions) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,A\n");
  ResultsFile file = open();
  put(file, "nn_3", "C", false);
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_2,B\n");
  EXPECT_TRUE(file.load(notices_));
  EXPECT_EQ(solution(file, "nn_1"), "none");
  EXPECT_EQ(solution(file, "nn_2"), "B");
  EXPECT_EQ(solution(file, "nn_3"), "C") << "it never was on disk";
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_2,B\nGemm,nn_3,C\n");
}

TEST_F(ResultsFileTest, AnErasedRowLeavesTheFileWithTheNextSave) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,A\n");
  ResultsFile file = open();
  EXPECT_TRUE(file.erase({"Gemm", "nn_1"}));
  EXPECT_FALSE(file.erase({"Gemm", "nn_1"}));
  EXPECT_TRUE(file.save(notices_));
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_2,A\n");
}

TEST_F(ResultsFileTest, ClearingForgetsAndLeavesTheFile) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  ResultsFile file = open();
  file.clear();
  EXPECT_TRUE(file.rows().empty());
  put(file, "nn_2", "B");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,B\n");
}

TEST_F(ResultsFileTest, AppendingToATornFileMendsIt) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_2,Gemm_");
  ResultsFile file = open();
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_EQ(solution(file, "nn_2"), "none");
  put(file, "nn_3", "C");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\nGemm,nn_3,C\n"
                    "# incomplete: Gemm,nn_2,Gemm_\n");
}

TEST_F(ResultsFileTest, ComplaintsNameFileAndLine) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1\n");
  open();
  EXPECT_EQ(notices_,
            Notices{csv() + ":2: is not 'op,params,solution[,time_ms[,...]]' "
                            "and is ignored"});
}

TEST_F(ResultsFileTest, AFailedSaveIsANoticeAndTheResultStays) {
  ResultsFile file(path("missing/results.csv"), validators_);
  EXPECT_TRUE(file.load(notices_));
  put(file, "nn_1", "A");
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_TRUE(notices_[0].starts_with("a result is not saved: cannot lock"))
      << notices_[0];
  EXPECT_FALSE(file.save(notices_));
  EXPECT_EQ(solution(file, "nn_1"), "A");
}

TEST_F(ResultsFileTest, SavesElsewhereAndKeepsWhatIsThere) {
  write_text(csv(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  write_text(path("other.csv"),
             "Validator,DEVICE,fake\n# theirs\nGemm,nn_1,Z\nGemm,nn_9,Z\n");
  const ResultsFile file = open();
  EXPECT_TRUE(file.save_as(path("other.csv"), notices_));
  EXPECT_EQ(read_text(path("other.csv")),
            "Validator,DEVICE,fake\n# theirs\nGemm,nn_1,A\nGemm,nn_9,Z\n");
  EXPECT_EQ(text(), "Validator,DEVICE,fake\nGemm,nn_1,A\n");
  EXPECT_TRUE(file.save_as(path("new.csv"), notices_));
  EXPECT_EQ(read_text(path("new.csv")), text());
  EXPECT_TRUE(notices_.empty());
}

}  // namespace
}  // namespace tunedops
