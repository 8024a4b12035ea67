// What is wrong with a key that was written by hand: the first thing that a
// reader from left to right would stumble over.

#include "tuning/key_hint.h"

#include <gtest/gtest.h>

#include <map>

#include "kernels/gemm/gemm_definition.h"

namespace tunedops {
namespace {

const std::string kOp = "GemmTunableOp_float_TN";
const std::string kSizes = "tn_24_1_40_ld_40_40_24";

std::string hint(const std::string& op, const std::string& params,
                 DeviceType device = DeviceType::kCpu) {
  EXPECT_FALSE(GemmDefinition().from_text({op, params}, {device, 0}))
      << op << ',' << params << " is a key";
  return key_hint({op, params}, device);
}

TEST(KeyHintTest, OfTheOp) {
  const std::string params = kSizes + "_threads_1";
  EXPECT_EQ(hint("GemTunableOp_float_TN", params), "") << "perhaps another's";
  EXPECT_EQ(hint("GemmTunable_float_TN", params),
            "'GemmTunable' is none of GemmTunableOp, GemmAndBiasTunableOp, "
            "GemmStridedBatchedTunableOp");
  const std::string layout = "the op has to be GemmTunableOp_<type>_ and NN, "
                             "NT, TN or TT";
  for (const std::string end : {"", "_", "_float", "_float_TC", "_float_tn"}) {
    EXPECT_EQ(hint("GemmTunableOp" + end, params), layout) << end;
  }
  EXPECT_EQ(hint("GemmTunableOp_float32_TN", params),
            "there is no type 'float32'");
  EXPECT_EQ(hint("GemmTunableOp_TN", params), "there is no type ''");
}

TEST(KeyHintTest, OfTheSizes) {
  const std::map<std::string, std::string> expected{
      {"", "the op ends in _TN, so the params have to begin with tn_, not "
           "with ''"},
      {"nn_24_1_40_ld_40_40_24_threads_1",
       "the op ends in _TN, so the params have to begin with tn_, not with "
       "'nn'"},
      {"tn_24_1_ld_40_40_24_threads_1",
       "tn has to be followed by 3 numbers, not 2 (m, n, k)"},
      {"tn_24_1_40_3_ld_40_40_24_threads_1",
       "tn has to be followed by 3 numbers, not 4 (m, n, k)"},
      {"tn_24_1_40_B_2_ld_40_40_24_threads_1",
       "only GemmStridedBatchedTunableOp has _B_<batch>"},
      {"tn_24_1_40_threads_1",
       "_ld_<lda>_<ldb>_<ldc> has to follow the sizes, not 'threads_1'"},
      {"tn_24_1_40_ld_40_40_threads_1",
       "_ld has to be followed by 3 numbers, not 2"},
      {"tn_24_1_40_ld_40_40_24_5_threads_1",
       "_ld has to be followed by 3 numbers, not 4"},
      {"tn_24_0_40_ld_40_40_24_threads_1", "sizes are 1 at least"},
      {"tn_24_1_40_ld_39_40_24_threads_1",
       "<lda> behind _ld is 39 and has to be 40 at least"},
      {"tn_24_1_40_ld_40_39_24_threads_1",
       "<ldb> behind _ld is 39 and has to be 40 at least"},
      {"tn_24_1_40_ld_40_40_23_threads_1",
       "<ldc> behind _ld is 23 and has to be 24 at least"},
  };
  for (const auto& [params, text] : expected) {
    EXPECT_EQ(hint(kOp, params), text);
  }
  EXPECT_EQ(hint("GemmStridedBatchedTunableOp_float_TN", kSizes + "_threads_1"),
            "GemmStridedBatchedTunableOp has _B_<batch> before _ld");
  EXPECT_EQ(hint("GemmStridedBatchedTunableOp_float_TN",
                 "tn_24_1_40_B_ld_40_40_24_threads_1"),
            "_B has to be followed by 1 number, not 0");
}

TEST(KeyHintTest, OfTheThreads) {
  for (const std::string end :
       {"", "_threads", "_threads_", "_threads_x", "_threads_1_2",
        "_threads_1_alpha_any", "_beta_one"}) {
    EXPECT_EQ(hint(kOp, kSizes + end), "keys of a CPU end in _threads_<n>")
        << end;
  }
  for (const std::string count : {"0", "-1", "99999", "1000000"}) {
    EXPECT_EQ(hint(kOp, kSizes + "_threads_" + count),
              "the threads are 1 to 65535")
        << count;
  }
  EXPECT_EQ(hint(kOp, kSizes + "_threads_1", DeviceType::kCuda),
            "only keys of a CPU have _threads_<n>");
}

TEST(KeyHintTest, OfWhatFollows) {
  EXPECT_EQ(hint(kOp, kSizes + "_beta_one_alpha_any_threads_1"),
            "'_beta_one_alpha_any_threads_1' behind the numbers of _ld is not "
            "what keys have there, or not in their order");
  const std::string longer(100, 'x');
  EXPECT_EQ(hint(kOp, kSizes + "_" + longer, DeviceType::kCuda),
            "'_" + longer.substr(0, 39) +
                "...' behind the numbers of _ld is not what keys have there, "
                "or not in their order");
}

}  // namespace
}  // namespace tunedops
