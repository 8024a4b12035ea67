// What cuBLAS and cuBLASLt are asked for: types, outputs, biases and
// activations that they have. Anything else would be computed as something
// else.

#include "kernels/gemm/cuda/library_support.h"

#include <gtest/gtest.h>

#include "gpu_problems.h"

namespace tunedops::cuda {
namespace {

constexpr DType kReal[] = {DType::kFloat32, DType::kFloat64, DType::kBFloat16,
                           DType::kFloat16};

template <class Change>
std::string library_refusal(const Change& change) {
  GemmProblem p = gpu_problem(64, 48, 128);
  change(p);
  EXPECT_TRUE(library_supports(p).is_ok() || !cublaslt_supports(p).is_ok())
      << "cuBLASLt takes no more than the libraries do";
  return library_supports(p).reason();
}

template <class Change>
std::string cublaslt_refusal(const Change& change) {
  GemmProblem p = gpu_problem(64, 48, 128);
  change(p);
  return cublaslt_supports(p).reason();
}

void set_type(GemmProblem& p, DType dtype) {
  p.a_dtype = p.b_dtype = p.out_dtype = dtype;
}

TEST(LibrarySupport, RealTypes) {
  for (const DType dtype : kReal) {
    EXPECT_EQ(library_refusal([&](auto& p) { set_type(p, dtype); }), "");
    EXPECT_EQ(cublaslt_refusal([&](auto& p) { set_type(p, dtype); }), "");
  }
  for (const DType dtype :
       {DType::kNone, DType::kComplex64, DType::kComplex128}) {
    EXPECT_EQ(library_refusal([&](auto& p) { set_type(p, dtype); }),
              "real types only");
  }
}

TEST(LibrarySupport, OneTypeOrFloatOutOf16Bits) {
  for (const DType dtype : kReal) {
    for (const DType out : kReal) {
      const bool widens = size_of(dtype) == 2 && out == DType::kFloat32;
      EXPECT_EQ(library_refusal([&](auto& p) {
                  set_type(p, dtype);
                  p.out_dtype = out;
                }).empty(),
                dtype == out || widens);
      EXPECT_EQ(library_refusal([&](auto& p) {
                  set_type(p, dtype);
                  p.b_dtype = out;
                }).empty(),
                dtype == out);
    }
  }
}

TEST(LibrarySupport, NoConjugatesAndNoEndlessBatch) {
  EXPECT_EQ(library_refusal([](auto& p) { p.conjugate_a = true; }),
            "no conjugated operands");
  EXPECT_EQ(library_refusal([](auto& p) { p.conjugate_b = true; }),
            "no conjugated operands");
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  EXPECT_EQ(library_refusal([](auto& p) { p.batch = kMost; }), "");
  EXPECT_EQ(library_refusal([](auto& p) { p.batch = kMost + 1; }),
            "too large a batch");
}

TEST(LibrarySupport, CublasltHasReluAndOneGelu) {
  for (const Activation has :
       {Activation::kNone, Activation::kRelu, Activation::kGeluTanh}) {
    for (const DType bias : {DType::kNone, DType::kBFloat16}) {
      EXPECT_EQ(cublaslt_refusal([&](auto& p) {
                  p.activation = has;
                  p.bias_dtype = bias;
                }),
                "");
    }
  }
  EXPECT_EQ(cublaslt_refusal([](auto& p) { p.activation = Activation::kGelu; }),
            "its gelu is the one with tanh");
}

TEST(LibrarySupport, CublasltsBiasIsAlignedAndOfTheOutputsType) {
  const auto bias = [](DType dtype, int align) {
    return [=](GemmProblem& p) {
      p.bias_dtype = dtype;
      p.align_bias = static_cast<std::uint8_t>(align);
    };
  };
  EXPECT_EQ(cublaslt_refusal(bias(DType::kBFloat16, 16)), "");
  for (const int align : {1, 2, 4, 8}) {
    EXPECT_EQ(cublaslt_refusal(bias(DType::kBFloat16, align)),
              "wants a bias that is aligned to 16 bytes");
    EXPECT_EQ(cublaslt_refusal(bias(DType::kNone, align)), "");
  }
  EXPECT_EQ(cublaslt_refusal(bias(DType::kFloat32, 16)),
            "the bias is not of the output's type");
  EXPECT_EQ(cublaslt_refusal(bias(DType::kFloat16, 16)),
            "the bias is not of the output's type");
}

// It reads a bias of 16 bits beside an output of 32 as numbers of 32.
TEST(LibrarySupport, CublasltsBiasFollowsAWiderOutput) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    for (const DType bias :
         {DType::kNone, DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
      const bool has = bias == DType::kNone || bias == DType::kFloat32;
      EXPECT_EQ(cublaslt_refusal([&](auto& p) {
                  set_type(p, dtype);
                  p.out_dtype = DType::kFloat32;
                  p.bias_dtype = bias;
                }),
                has ? "" : "the bias is not of the output's type");
    }
  }
}

TEST(LibrarySupport, CublasltHasNoBiasForBatches) {
  for (const bool has_bias : {false, true}) {
    GemmProblem p = in_batches(gpu_problem(64, 48, 128), 3);
    p.bias_dtype = has_bias ? DType::kBFloat16 : DType::kNone;
    EXPECT_EQ(cublaslt_supports(p).reason(),
              has_bias ? "no bias for batches" : "");
  }
}

}  // namespace
}  // namespace tunedops::cuda
