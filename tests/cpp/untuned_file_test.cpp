// The list of products to tune later: each once, whoever recorded it, and no
// trouble when it cannot be written.

#include "tuning/untuned_file.h"

#include "fakes.h"

namespace tunedops {
namespace {

class UntunedFileTest : public TempFolderTest {
 protected:
  Notices record(UntunedFile& file, const std::string& params) {
    Notices notices;
    file.record(path("untuned.csv"), {"Gemm", params}, notices);
    return notices;
  }

  std::string text() const { return read_text(path("untuned.csv")); }
};

TEST_F(UntunedFileTest, RecordsEachProductOnce) {
  UntunedFile file;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(record(file, "nn_1").empty());
    EXPECT_TRUE(record(file, "nn_2").empty());
  }
  EXPECT_EQ(text(), "Gemm,nn_1\nGemm,nn_2\n");
}

TEST_F(UntunedFileTest, KnowsWhatAnotherProcessRecorded) {
  UntunedFile first;
  record(first, "nn_1");
  UntunedFile second;
  record(second, "nn_1");
  record(second, "nn_2");
  EXPECT_EQ(text(), "Gemm,nn_1\nGemm,nn_2\n");
}

TEST_F(UntunedFileTest, FilesAreKeptApart) {
  UntunedFile file;
  Notices notices;
  file.record(path("a"), {"Gemm", "nn_1"}, notices);
  file.record(path("b"), {"Gemm", "nn_1"}, notices);
  EXPECT_EQ(read_text(path("a")), "Gemm,nn_1\n");
  EXPECT_EQ(read_text(path("b")), "Gemm,nn_1\n");
  EXPECT_TRUE(notices.empty());
}

TEST_F(UntunedFileTest, AFileThatCannotBeWrittenIsANotice) {
  write_text(path("untuned.csv"), "");
  UntunedFile file;
  Notices notices;
  file.record(path("untuned.csv/inside"), {"Gemm", "nn_1"}, notices);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].starts_with("an untuned product is not recorded: "))
      << notices[0];
}

TEST_F(UntunedFileTest, FollowsNoLink) {
  write_text(path("target"), "precious\n");
  std::filesystem::create_symlink(path("target"), path("untuned.csv"));
  UntunedFile file;
  EXPECT_EQ(record(file, "nn_1").size(), 1U);
  EXPECT_EQ(read_text(path("target")), "precious\n");
}

// A list that somebody ended without a newline must not swallow a product.
TEST_F(UntunedFileTest, BeginsALineOfItsOwn) {
  write_text(path("untuned.csv"), "Gemm,nn_1");
  UntunedFile file;
  record(file, "nn_1");
  record(file, "nn_2");
  record(file, "nn_3");
  EXPECT_EQ(text(), "Gemm,nn_1\nGemm,nn_2\nGemm,nn_3\n");
}

// PyTorch writes what BLAS was asked as a third field, with commas in it, if it
// is told to; a results file has more fields, too.
TEST_F(UntunedFileTest, KnowsLinesWithMoreFields) {
  const std::string before =
      "Gemm,nn_1,BLAS_PARAMS: - { function: matmul, M: 1 }\n"
      "Validator,DEVICE,x\n"
      "Gemm,nn_2,Default,1,2\n";
  write_text(path("untuned.csv"), before);
  UntunedFile file;
  record(file, "nn_1");
  record(file, "nn_2");
  record(file, "nn");
  EXPECT_EQ(text(), before + "Gemm,nn\n");
}

TEST_F(UntunedFileTest, KnowsLinesThatEndAsOnWindows) {
  write_text(path("untuned.csv"), "Gemm,nn_1\r\n");
  UntunedFile file;
  record(file, "nn_1");
  EXPECT_EQ(text(), "Gemm,nn_1\r\n");
}

}  // namespace
}  // namespace tunedops
