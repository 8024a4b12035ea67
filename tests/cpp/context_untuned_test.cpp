// The list of products that were met without a result: whatever kept them from
// being tuned, each is there once, and what has a result is not.

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "context_fixture.h"

namespace tunedops {
namespace {

class ContextUntunedTest : public ContextTest {
 protected:
  ContextUntunedTest() { context().set_setting("RECORD_UNTUNED", "1"); }

  std::string line(const ProblemKey& problem) {
    const KeyText key = context().key_text(problem);
    return key.op + ',' + key.params + '\n';
  }

  std::string list() const {
    return exists(path("untuned_cpu.csv")) ? read_text(path("untuned_cpu.csv"))
                                           : "";
  }
};

TEST_F(ContextUntunedTest, ProductsAreRecordedOnce) {
  context().set_setting("TUNING", "0");
  for (int i = 0; i < 3; ++i) {
    choice(gemm(8));
    choice(scale_problem(5));
    context().set_setting("VERBOSE", "0");  // decisions are taken anew
  }
  EXPECT_EQ(list(), line(gemm(8)) + "ScaleTunableOp_float,n_5\n");
  // The list leads back to the problems.
  EXPECT_EQ(context().parse_key(context().key_text(gemm(8)), {}), gemm(8));
  EXPECT_EQ(context().parse_key({"ScaleTunableOp_float", "n_5"}, {}),
            scale_problem(5));
  EXPECT_EQ(context().parse_key({"ScaleTunableOp_float", "n_05"}, {}),
            std::nullopt);
}

TEST_F(ContextUntunedTest, WhatIsStoredIsNotRecorded) {
  write_csv(row(8, "Default"));
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(choice(gemm(9)), "Default");  // tuned
  context().set_setting("TUNING", "0");
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(choice(gemm(9)), "Default");
  EXPECT_EQ(list(), "");
}

// A row that cannot be used is a result all the same: it is not tuned over.
TEST_F(ContextUntunedTest, WhatIsStoredAndUnusableIsNotRecorded) {
  write_csv(row(8, "Gemm_Nobody"));
  EXPECT_EQ(choice(gemm(8)), "Default");
  EXPECT_EQ(list(), "");
}

TEST_F(ContextUntunedTest, WhatIsForcedIsNotRecorded) {
  context().set_setting("TUNING", "0");
  ThreadState::current().overlay = context().forced_overlay("Default");
  choice(gemm(8));
  EXPECT_EQ(list(), "");
}

// A miss whose tuning the moment forbids is one that nobody will tune later.
TEST_F(ContextUntunedTest, UnderCaptureProductsAreRecordedOnce) {
  device_.may_tune = Status::unsupported("capturing");
  choice(gemm(8));
  choice(gemm(8));
  choice(gemm(9));
  choice(gemm(8));
  EXPECT_EQ(list(), line(gemm(8)) + line(gemm(9)));
}

TEST_F(ContextUntunedTest, WhatMeetsATuningThreadIsRecordedOnce) {
  bool asked = false;
  std::string beside;
  add({.name = "Gemm_Fast", .ms_of = [&](const Config&) {
         if (!asked) {
           asked = true;
           std::thread([&] {
             beside = choice(gemm(9));
             choice(gemm(9));
           }).join();
         }
         return 0.5;
       }});
  EXPECT_EQ(choice(gemm(8)), "Gemm_Fast");
  EXPECT_EQ(beside, "Default");
  EXPECT_EQ(list(), line(gemm(9)));
  EXPECT_EQ(choice(gemm(9)), "Gemm_Fast") << "the next call tunes";
  EXPECT_EQ(list(), line(gemm(9)));
}

TEST_F(ContextUntunedTest, WhatCouldNotBeTunedIsRecordedOnce) {
  add({.name = "Gemm_Other"});  // Default alone would not be tuned
  device_.out_of_memory = true;
  choice(gemm(8));
  choice(gemm(8));
  EXPECT_EQ(list(), line(gemm(8)));
}

TEST_F(ContextUntunedTest, AfterAStickyFailureProductsAreRecorded) {
  add({.name = "Gemm_Sticky", .fault = Fault::kSticky});
  choice(gemm(8));
  choice(gemm(9));
  EXPECT_EQ(list(), line(gemm(8)) + line(gemm(9)));
}

TEST_F(ContextUntunedTest, PastThePaceProductsAreRecorded) {
  context().set_setting("MAX_VARIANTS", "1");
  for (const std::int64_t n : {7, 8, 9, 8}) {
    choice(gemm(n));
  }
  EXPECT_EQ(list(), line(gemm(8)) + line(gemm(9)));
}

TEST_F(ContextUntunedTest, AnErrorOnMissIsRecordedToo) {
  context().set_setting("TUNING", "0");
  context().set_setting("ON_MISS", "error");
  EXPECT_THROW(choice(gemm(8)), std::runtime_error);
  EXPECT_THROW(choice(gemm(8)), std::runtime_error);
  EXPECT_EQ(list(), line(gemm(8)));
}

// The products inside of one that is tuned, or inside torch's own function for
// one, are no problems of the program.
TEST_F(ContextUntunedTest, NestedProductsAreNotRecorded) {
  context().set_setting("TUNING", "0");
  const OriginalsOnly mark;
  choice(gemm(8));
  EXPECT_EQ(list(), "");
}

TEST_F(ContextUntunedTest, SwitchedOnLaterItRecordsWhatIsKnownAlready) {
  context().set_setting("RECORD_UNTUNED", "0");
  context().set_setting("TUNING", "0");
  choice(gemm(8));
  EXPECT_EQ(list(), "");
  context().set_setting("RECORD_UNTUNED", "1");
  choice(gemm(8));
  EXPECT_EQ(list(), line(gemm(8)));
}

TEST_F(ContextUntunedTest, ADeletedListIsBegunAnew) {
  context().set_setting("TUNING", "0");
  choice(gemm(8));
  std::filesystem::remove(path("untuned_cpu.csv"));
  context().set_setting("VERBOSE", "0");
  choice(gemm(8));
  EXPECT_EQ(list(), line(gemm(8)));
}

TEST_F(ContextUntunedTest, DevicesHaveListsOfTheirOwn) {
  context().register_backend(DeviceType::kCuda,
                             std::make_unique<FakeBackend>(device_));
  context().set_setting("TUNING", "0");
  for (std::int16_t index = 0; index < 2; ++index) {
    const Device device{DeviceType::kCuda, index};
    device_.tags[device] = std::to_string(index);
    GemmProblem problem = gemm_problem(6, 8, 4);
    problem.header.device_type = device.type;
    problem.header.device_index = index;
    problem.header.threads = 0;
    choice(to_key(problem));
  }
  choice(gemm(8));
  const std::string plain = "GemmTunableOp_float_NN,nn_6_8_4_ld_6_4_6\n";
  EXPECT_EQ(read_text(path("untuned0.csv")), plain);
  EXPECT_EQ(read_text(path("untuned1.csv")), plain);
  EXPECT_EQ(list(), line(gemm(8)));
}

TEST_F(ContextUntunedTest, WhatCouldNotBeWrittenIsWrittenAtExit) {
  context().set_setting("TUNING", "0");
  context().set_setting("UNTUNED_FILENAME", path("later/untuned.csv"));
  choice(gemm(8));
  choice(gemm(9));
  ASSERT_EQ(warnings().size(), 1U) << "said once";
  EXPECT_TRUE(warnings()[0].starts_with(
      "tunedops: an untuned product is not recorded: "))
      << warnings()[0];
  std::filesystem::create_directory(path("later"));
  context().on_exit();
  EXPECT_EQ(read_text(path("later/untuned_cpu.csv")),
            line(gemm(8)) + line(gemm(9)));
}

// A child tunes nothing, so its misses would be lost to everybody.
TEST_F(ContextUntunedTest, AForkedChildRecordsWhatItsParentDidNot) {
  context().set_setting("TUNING", "0");
  choice(gemm(8));
  context().before_fork();
  const pid_t child = ::fork();
  context().after_fork();
  if (child == 0) {
    choice(gemm(8));
    choice(gemm(9));
    context().on_exit();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(list(), line(gemm(8)) + line(gemm(9)));
  choice(gemm(9));
  choice(gemm(10));
  EXPECT_EQ(list(), line(gemm(8)) + line(gemm(9)) + line(gemm(10)));
}

}  // namespace
}  // namespace tunedops
