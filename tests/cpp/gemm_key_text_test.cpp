// The text of a matrix product's key: plain rows are PyTorch's own, everything
// else differs from them, each text leads back to its problem, and no other
// text leads anywhere.

#include <array>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tunedops {
namespace {

constexpr Device kGpu{DeviceType::kCuda, 0};
constexpr Device kCpu{DeviceType::kCpu, 0};

const GemmDefinition& gemm() {
  static const GemmDefinition definition;
  return definition;
}

std::optional<GemmProblem>
read(const std::string& op, const std::string& params, Device device = kGpu) {
  const auto key = gemm().from_text({op, params}, device);
  return key ? std::optional(from_key<GemmProblem>(*key)) : std::nullopt;
}

KeyText written(const GemmProblem& problem) {
  return gemm().to_text(to_key(problem));
}

GemmProblem plain_bf16() {
  GemmProblem p = gemm_problem(4096, 16, 4096);
  p.header.device_type = DeviceType::kCuda;
  p.header.threads = 0;
  p.a_dtype = p.b_dtype = p.out_dtype = DType::kBFloat16;
  p.transpose_a = true;
  return p;
}

// Rows of a file that PyTorch's TunableOp wrote.
TEST(GemmKeyText, PlainRowsAreThoseOfPyTorch) {
  const GemmProblem plain = plain_bf16();
  EXPECT_EQ(
      read("GemmTunableOp_BFloat16_TN", "tn_4096_16_4096_ld_4096_4096_4096"),
      plain);

  GemmProblem tall = plain;
  tall.m = tall.ldc = 28672;
  tall.n = 64;
  EXPECT_EQ(
      read("GemmTunableOp_BFloat16_TN", "tn_28672_64_4096_ld_4096_4096_28672"),
      tall);

  GemmProblem fp32 = plain;
  fp32.a_dtype = fp32.b_dtype = fp32.out_dtype = DType::kFloat32;
  fp32.m = fp32.n = fp32.k = fp32.lda = fp32.ldb = fp32.ldc = 1024;
  EXPECT_EQ(
      read("GemmTunableOp_float_TN", "tn_1024_1024_1024_ld_1024_1024_1024"),
      fp32);

  GemmProblem bias = plain;
  bias.bias_dtype = DType::kBFloat16;
  bias.n = 512;
  EXPECT_EQ(read("GemmAndBiasTunableOp_BFloat16_TN",
                 "tn_4096_512_4096_ld_4096_4096_4096"),
            bias);

  GemmProblem batched = plain;
  batched.transpose_a = false;
  batched.batched = true;
  batched.m = batched.n = batched.k = 64;
  batched.lda = batched.ldb = batched.ldc = 64;
  batched.batch = 1024;
  batched.stride_a = batched.stride_b = batched.stride_c = 64 * 64;
  EXPECT_EQ(read("GemmStridedBatchedTunableOp_BFloat16_NN",
                 "nn_64_64_64_B_1024_ld_64_64_64"),
            batched);
}

TEST(GemmKeyText, PlainRowsAreWrittenAsPyTorchDoes) {
  const std::array<KeyText, 6> rows{{
      {"GemmTunableOp_BFloat16_TN", "tn_4096_16_4096_ld_4096_4096_4096"},
      {"GemmTunableOp_BFloat16_TN", "tn_28672_64_4096_ld_4096_4096_28672"},
      {"GemmTunableOp_BFloat16_TN", "tn_1000_1000_1000_ld_1000_1000_1000"},
      {"GemmTunableOp_float_TN", "tn_1024_1024_1024_ld_1024_1024_1024"},
      {"GemmAndBiasTunableOp_BFloat16_TN",
       "tn_4096_512_4096_ld_4096_4096_4096"},
      {"GemmStridedBatchedTunableOp_BFloat16_NN",
       "nn_64_64_64_B_1024_ld_64_64_64"},
  }};
  for (const KeyText& row : rows) {
    const auto problem = gemm().from_text(row, kGpu);
    ASSERT_TRUE(problem.has_value()) << row.params;
    EXPECT_EQ(gemm().to_text(*problem), row);
  }
}

TEST(GemmKeyText, Tf32IsATypeOfItsOwn) {
  GemmProblem p = plain_bf16();
  p.a_dtype = p.b_dtype = p.out_dtype = DType::kFloat32;
  p.header.precision = kAllowTf32;
  EXPECT_EQ(written(p).op, "GemmTunableOp_tf32_TN");
  EXPECT_EQ(read("GemmTunableOp_tf32_TN", "tn_4096_16_4096_ld_4096_4096_4096"),
            p);
}

TEST(GemmKeyText, WritesEachSuffixAsTheFormatSays) {
  const std::map<std::string, void (*)(GemmProblem&)> suffixes{
      {"_out_float", [](GemmProblem& p) { p.out_dtype = DType::kFloat32; }},
      {"_epi_relu", [](GemmProblem& p) { p.activation = Activation::kRelu; }},
      {"_epi_gelu", [](GemmProblem& p) { p.activation = Activation::kGelu; }},
      {"_epi_gelu_tanh",
       [](GemmProblem& p) { p.activation = Activation::kGeluTanh; }},
      {"_alpha_any", [](GemmProblem& p) { p.alpha = ScalarClass::kAny; }},
      {"_beta_one", [](GemmProblem& p) { p.beta = ScalarClass::kOne; }},
      {"_beta_any", [](GemmProblem& p) { p.beta = ScalarClass::kAny; }},
      {"_align_8_16_2",
       [](GemmProblem& p) {
         p.align_a = 8;
         p.align_out = 2;
       }},
      {"_conj_10", [](GemmProblem& p) { p.conjugate_a = true; }},
      {"_conj_01", [](GemmProblem& p) { p.conjugate_b = true; }},
      {"_conj_11",
       [](GemmProblem& p) { p.conjugate_a = p.conjugate_b = true; }},
      {"_fullprec",
       [](GemmProblem& p) { p.header.precision = kFullPrecisionReduction; }},
      {"_det", [](GemmProblem& p) { p.header.precision = kDeterministic; }},
      {"_accum16",
       [](GemmProblem& p) { p.header.precision = kFp16Accumulation; }},
      {"_ws_32", [](GemmProblem& p) { p.workspace_mib = 32; }},
  };
  for (const auto& [suffix, change] : suffixes) {
    GemmProblem problem = plain_bf16();
    change(problem);
    const KeyText text = written(problem);
    EXPECT_EQ(text.params, "tn_4096_16_4096_ld_4096_4096_4096" + suffix);
    EXPECT_EQ(read(text.op, text.params), problem) << suffix;
  }
}

TEST(GemmKeyText, WritesTheSuffixesOfBiasBatchAndThreads) {
  GemmProblem bias = plain_bf16();
  bias.bias_dtype = DType::kFloat32;
  bias.align_bias = 4;
  EXPECT_EQ(written(bias),
            (KeyText{"GemmAndBiasTunableOp_BFloat16_TN",
                     "tn_4096_16_4096_ld_4096_4096_4096_bias_float"
                     "_align_16_16_16_4"}));

  GemmProblem batched = gemm_problem(8, 4, 2);
  batched.batched = true;
  batched.batch = 3;
  batched.stride_a = 0;
  batched.stride_b = 8;
  batched.stride_c = 100;
  EXPECT_EQ(written(batched),
            (KeyText{"GemmStridedBatchedTunableOp_float_NN",
                     "nn_8_4_2_B_3_ld_8_2_8_stride_0_8_100_threads_1"}));

  GemmProblem all = plain_bf16();
  all.out_dtype = DType::kFloat32;
  all.bias_dtype = DType::kBFloat16;
  all.activation = Activation::kGeluTanh;
  all.alpha = all.beta = ScalarClass::kAny;
  all.align_b = 2;
  all.header.precision = kFullPrecisionReduction | kDeterministic;
  all.workspace_mib = 1;
  EXPECT_EQ(written(all).params,
            "tn_4096_16_4096_ld_4096_4096_4096_out_float_bias_BFloat16"
            "_epi_gelu_tanh_alpha_any_beta_any_align_16_2_16_fullprec_det"
            "_ws_1");
  EXPECT_EQ(read(written(all).op, written(all).params), all);
}

// How a bias is written, and how badly an output can be aligned, depend on the
// output's type and not on that of the operands.
TEST(GemmKeyText, AnOutputOfItsOwnType) {
  const std::string params = "tn_4096_16_4096_ld_4096_4096_4096_out_float";
  const std::map<DType, std::string> biases{
      {DType::kNone, ""},
      {DType::kFloat32, ""},
      {DType::kBFloat16, "_bias_BFloat16"},
  };
  for (const auto& [bias, suffix] : biases) {
    GemmProblem p = plain_bf16();
    p.out_dtype = DType::kFloat32;
    p.bias_dtype = bias;
    const KeyText text = written(p);
    EXPECT_EQ(text.op, bias == DType::kNone
                           ? "GemmTunableOp_BFloat16_TN"
                           : "GemmAndBiasTunableOp_BFloat16_TN");
    EXPECT_EQ(text.params, params + suffix);
    EXPECT_EQ(read(text.op, text.params), p);
  }
  GemmProblem batched = plain_bf16();
  batched.out_dtype = DType::kFloat32;
  batched.batched = true;
  batched.batch = 3;
  batched.stride_a = batched.stride_b = batched.stride_c = 1 << 24;
  batched.beta = ScalarClass::kOne;
  EXPECT_EQ(written(batched).params,
            "tn_4096_16_4096_B_3_ld_4096_4096_4096_stride_16777216_16777216_"
            "16777216_out_float_beta_one");
  EXPECT_EQ(read(written(batched).op, written(batched).params), batched);

  const std::string op = "GemmTunableOp_Half_TN";
  EXPECT_TRUE(read(op, params + "_align_2_2_4"));
  EXPECT_FALSE(read(op, params + "_align_2_2_2"));
  EXPECT_FALSE(read(op, params + "_out_float"));
  EXPECT_TRUE(read(op, params + "_threads_2", kCpu));
}

TEST(GemmKeyText, TheDeviceIsNotInTheText) {
  GemmProblem p = plain_bf16();
  p.header.device_index = 5;
  EXPECT_EQ(written(p), written(plain_bf16()));
  EXPECT_EQ(read(written(p).op, written(p).params, {DeviceType::kCuda, 5}), p);
}

TEST(GemmKeyText, RejectsWhatItWouldNotWrite) {
  const std::string op = "GemmTunableOp_BFloat16_TN";
  const std::string params = "tn_4096_16_4096_ld_4096_4096_4096";
  ASSERT_TRUE(read(op, params));
  for (const char* bad :
       {"GemmTunableOp_BFloat16_NN", "GemmTunableOp_BFloat16_TX",
        "GemmTunableOp_BFloat16_tn", "GemmTunableOp_BFloat16_",
        "GemmTunableOp_bfloat16_TN", "GemmTunableOp_None_TN",
        "GemmTunableOp__TN", "GemmTunableOp_TN", "Gemm_BFloat16_TN",
        "GemmTunableOp_BFloat16_TNN", "XGemmTunableOp_BFloat16_TN",
        "GemmStridedBatchedTunableOp_BFloat16_TN", "", "_", "__",
        "ScaleTunableOp_float"}) {
    EXPECT_EQ(read(bad, params), std::nullopt) << bad;
  }
  for (const char* bad :
       {"", "t", "tn", "tn_", "tn_4096", "nn_4096_16_4096_ld_4096_4096_4096",
        "tn_4096_16_4096_ld_4096_4096", "tn_4096_16_4096_ld_4096_4096_4096_",
        "tn_4096_16_4096_ld_4096_4096_4096_1",
        "tn_04096_16_4096_ld_4096_4096_4096",
        "tn_+4096_16_4096_ld_4096_4096_4096",
        "tn_ 4096_16_4096_ld_4096_4096_4096",
        "tn_4096.0_16_4096_ld_4096_4096_4096",
        "tn_4096_16_4096_LD_4096_4096_4096",
        "tn_4096_16_4096_B_1_ld_4096_4096_4096"}) {
    EXPECT_EQ(read(op, bad), std::nullopt) << bad;
  }
  for (const char* suffix : {"_out_BFloat16",
                             "_out_int",
                             "_bias_float",
                             "_epi_none",
                             "_epi_",
                             "_epi_silu",
                             "_alpha_one",
                             "_alpha",
                             "_beta_zero",
                             "_align_16_16_16",
                             "_align_3_16_16",
                             "_align_1_16_16",
                             "_align_8_8",
                             "_align_8_8_8_8",
                             "_align_32_8_8",
                             "_conj_00",
                             "_conj_1",
                             "_conj_2",
                             "_ws_0",
                             "_ws_-1",
                             "_ws_65536",
                             "_threads_1",
                             "_det_fullprec",
                             "_det_det",
                             "_beta_one_alpha_any",
                             "_stride_1_1_1",
                             "_unknown",
                             "_fullprecision"}) {
    EXPECT_EQ(read(op, params + suffix), std::nullopt) << suffix;
  }
}

TEST(GemmKeyText, RejectsSizesThatNoMemoryHolds) {
  const std::string op = "GemmTunableOp_float_NN";
  EXPECT_TRUE(read(op, "nn_1_1_1_ld_1_1_1"));
  for (const char* params :
       {"nn_0_1_1_ld_1_1_1", "nn_1_0_1_ld_1_1_1", "nn_1_1_0_ld_1_1_1",
        "nn_-1_1_1_ld_1_1_1", "nn_2_1_1_ld_1_1_2", "nn_1_1_2_ld_1_1_1",
        "nn_2_1_1_ld_2_1_1", "nn_1_1_1_ld_0_1_1",
        "nn_9223372036854775807_1_1_ld_9223372036854775807_1_1",
        "nn_9223372036854775808_1_1_ld_1_1_1", "nn_1_1099511627777_1_ld_1_1_1",
        "nn_1048577_1_1048577_ld_1048577_1048577_1048577"}) {
    EXPECT_EQ(read(op, params), std::nullopt) << params;
  }
  const std::string batched = "GemmStridedBatchedTunableOp_float_NN";
  EXPECT_TRUE(read(batched, "nn_1_1_1_B_2_ld_1_1_1"));
  for (const char* params :
       {"nn_1_1_1_B_0_ld_1_1_1", "nn_1_1_1_B_-1_ld_1_1_1", "nn_1_1_1_ld_1_1_1",
        "nn_1_1_1_B_2_ld_1_1_1_stride_1_1_1",
        "nn_1_1_1_B_2_ld_1_1_1_stride_-1_1_1",
        "nn_1_1_1_B_2_ld_1_1_1_stride_9223372036854775807_1_1",
        "nn_1048576_1_1048576_B_1048576_ld_1048576_1048576_1048576"}) {
    EXPECT_EQ(read(batched, params), std::nullopt) << params;
  }
}

TEST(GemmKeyText, ThreadsBelongToTheCpuAlone) {
  const std::string op = "GemmTunableOp_float_NN";
  EXPECT_FALSE(read(op, "nn_1_1_1_ld_1_1_1", kCpu));
  EXPECT_FALSE(read(op, "nn_1_1_1_ld_1_1_1_threads_0", kCpu));
  EXPECT_FALSE(read(op, "nn_1_1_1_ld_1_1_1_threads_65536", kCpu));
  const auto problem = read(op, "nn_1_1_1_ld_1_1_1_threads_8", kCpu);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->header.threads, 8);
}

}  // namespace
}  // namespace tunedops
