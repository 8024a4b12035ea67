#include "ops/product.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>

#include "ops/dtype_map.h"
#include "ops/precision_flags.h"

namespace tunedops {
namespace {

DType dtype_of(const at::Tensor& tensor) {
  return dtype_from(tensor.scalar_type());
}

// Nothing for a scalar that raw kernels cannot take.
std::optional<ScalarClass> class_of(const at::Scalar* scalar,
                                    ScalarClass absent) {
  if (scalar == nullptr) {
    return absent;
  }
  if (scalar->isComplex()) {
    return std::nullopt;
  }
  const double value = scalar->toDouble();
  if (value == 0) {
    return ScalarClass::kZero;
  }
  return value == 1 ? ScalarClass::kOne : ScalarClass::kAny;
}

std::uint16_t threads_of_pool() {
  return static_cast<std::uint16_t>(
      at::in_parallel_region() ? 1 : at::get_num_threads());
}

bool are_alike(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() &&
         left.device() == right.device();
}

bool can_be_bias(const Product& product) {
  const at::Tensor& bias = *product.bias;
  return bias.dim() == 1 && bias.size(0) == product.columns() &&
         (bias.size(0) == 1 || bias.stride(0) == 1);
}

}  // namespace

bool Product::is_sound() const {
  if (mat1.dim() != dims || mat2.dim() != dims || !are_alike(mat1, mat2) ||
      mat1.size(dims - 1) != mat2.size(dims - 2) ||
      (batched() && mat1.size(0) != mat2.size(0))) {
    return false;
  }
  for (const at::Tensor* term : {addend, bias}) {
    if (term != nullptr && (!are_alike(*term, mat1) ||
                            !at::is_expandable_to(term->sizes(), sizes()))) {
      return false;
    }
  }
  return true;
}

OutputLayout fresh_output(const Product& product) {
  OutputLayout output;
  output.layout.row_major = !product.vector;
  output.layout.ld = product.vector ? product.rows() : product.columns();
  output.layout.batch_stride = product.rows() * product.columns();
  return output;
}

std::optional<GemmProblem> describe(const Product& product,
                                    const OutputLayout& output) {
  const auto alpha = class_of(product.alpha, ScalarClass::kOne);
  const auto beta = class_of(product.beta, ScalarClass::kZero);
  if (!alpha || *alpha == ScalarClass::kZero || !beta) {
    return std::nullopt;
  }
  const at::Tensor& mat1 = product.mat1;
  const at::Tensor& mat2 = product.mat2;
  const DType dtype = dtype_of(mat1);
  if (dtype == DType::kNone || mat1.numel() == 0 || mat2.numel() == 0) {
    return std::nullopt;
  }
  for (const at::Tensor* operand :
       {&mat1, &mat2, product.bias, product.addend}) {
    if (operand != nullptr && operand->storage().data() == nullptr) {
      return std::nullopt;  // its memory was freed; the original says so
    }
  }
  // In BLAS's frame a column-major output is the product itself, a row-major
  // one its transpose: out^T = mat2^T @ mat1^T.
  const bool swapped = output.layout.row_major;
  const at::Tensor& a = swapped ? mat2 : mat1;
  const at::Tensor& b = swapped ? mat1 : mat2;
  const MatrixLayout layout_a = layout_of(a);
  const MatrixLayout layout_b = layout_of(b);

  GemmProblem p;
  const bool is_cpu = mat1.is_cpu();
  p.header.device_type = is_cpu ? DeviceType::kCpu : DeviceType::kCuda;
  p.header.device_index = is_cpu ? 0 : mat1.device().index();
  p.header.threads = is_cpu ? threads_of_pool() : 0;
  p.header.precision =
      precision_flags(mat1.device().type(), mat1.scalar_type());
  p.a_dtype = p.b_dtype = p.out_dtype = dtype;
  p.transpose_a = layout_a.row_major != swapped;
  p.transpose_b = layout_b.row_major != swapped;
  p.conjugate_a = a.is_conj();
  p.conjugate_b = b.is_conj();
  p.activation = product.activation;
  p.alpha = *alpha;
  p.beta = *beta;
  p.batched = product.batched();
  p.m = swapped ? product.columns() : product.rows();
  p.n = swapped ? product.rows() : product.columns();
  p.k = mat1.size(product.dims - 1);
  p.lda = layout_a.ld;
  p.ldb = layout_b.ld;
  p.ldc = output.layout.ld;
  if (p.batched) {
    p.batch = mat1.size(0);
    p.stride_a = layout_a.batch_stride;
    p.stride_b = layout_b.batch_stride;
    p.stride_c = output.layout.batch_stride;
  }
  if (product.bias != nullptr) {
    if (!swapped || !can_be_bias(product)) {
      return std::nullopt;
    }
    p.bias_dtype = dtype_of(*product.bias);
  }
  // A CPU loads unaligned vectors at full speed, so alignment is no part of its
  // problems: slices of a buffer would only be tuned again and again.
  if (!is_cpu) {
    p.align_a = layout_a.needs_copy ? 16 : alignment_of(a);
    p.align_b = layout_b.needs_copy ? 16 : alignment_of(b);
    p.align_out = output.alignment;
    p.align_bias = product.bias != nullptr ? alignment_of(*product.bias) : 16;
  }
  return p;
}

}  // namespace tunedops
