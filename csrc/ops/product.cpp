#include "ops/product.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>

#include "ops/call_state.h"
#include "ops/dtype_map.h"

namespace tunedops {
namespace {

// Memory that somebody took away, as FSDP does with parameters.
bool was_freed(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.unsafeGetTensorImpl()->unsafe_storage();
  return !storage || storage.data() == nullptr;
}

bool can_be_bias(const Product& product) {
  const at::Tensor& bias = *product.bias;
  return bias.dim() == 1 && bias.size(0) == product.columns() &&
         (bias.size(0) == 1 || bias.stride(0) == 1);
}

}  // namespace

bool Product::can_expand(const at::Tensor& term, Product product) {
  return at::is_expandable_to(term.sizes(), ProductSizes(product));
}

const char* describe(const Product& product, const OutputLayout& output,
                     GemmProblem& p) {
  const auto alpha =
      product.alpha == nullptr ? ScalarClass::kOne : class_of(*product.alpha);
  const auto beta =
      product.beta == nullptr ? ScalarClass::kZero : class_of(*product.beta);
  if (!alpha || *alpha == ScalarClass::kZero || !beta) {
    return "alpha is 0, or alpha or beta is complex or beyond float's range";
  }
  const at::Tensor& mat1 = product.mat1;
  const at::Tensor& mat2 = product.mat2;
  const std::int64_t rows = product.rows();
  const std::int64_t columns = product.columns();
  p.k = product.inner();
  p.batch = product.batch();
  const DType dtype = dtype_from(mat1.scalar_type());
  if (dtype == DType::kNone) {
    return "no kernel multiplies elements of that dtype";
  }
  if (rows == 0 || columns == 0 || p.k == 0 || p.batch == 0) {
    return "an operand is empty";
  }
  if (was_freed(mat1) || was_freed(mat2) ||
      (product.bias != nullptr && was_freed(*product.bias)) ||
      (product.addend != nullptr && was_freed(*product.addend)) ||
      (product.out != nullptr && was_freed(*product.out))) {
    return "the memory of an operand was freed";  // the original says so
  }
  // In BLAS's frame a column-major output is the product itself, a row-major
  // one its transpose: out^T = mat2^T @ mat1^T.
  const bool swapped = output.layout.row_major;
  const at::Tensor& a = swapped ? mat2 : mat1;
  const at::Tensor& b = swapped ? mat1 : mat2;
  const MatrixLayout layout_a = layout_of(a);
  const MatrixLayout layout_b = layout_of(b);

  if (mat1.is_cpu()) {
    at::get_num_threads();  // sets the thread up, if nothing has so far
  }
  p.header = call_state(mat1.device(), mat1.scalar_type());
  p.a_dtype = p.b_dtype = dtype;
  p.out_dtype = dtype_from(product.out_dtype());
  p.transpose_a = layout_a.row_major != swapped;
  p.transpose_b = layout_b.row_major != swapped;
  p.conjugate_a = a.is_conj();
  p.conjugate_b = b.is_conj();
  p.activation = product.activation;
  p.alpha = *alpha;
  p.beta = *beta;
  p.batched = product.batched();
  p.m = swapped ? columns : rows;
  p.n = swapped ? rows : columns;
  p.lda = layout_a.ld;
  p.ldb = layout_b.ld;
  p.ldc = output.layout.ld;
  if (p.batched) {
    p.stride_a = layout_a.batch_stride;
    p.stride_b = layout_b.batch_stride;
    p.stride_c = output.layout.batch_stride;
  }
  if (product.bias != nullptr) {
    if (!swapped || !can_be_bias(product)) {
      return "the bias is not one consecutive value for each column of a "
             "row-major output";
    }
    p.bias_dtype = dtype_from(product.bias->scalar_type());
  }
  // A CPU loads unaligned vectors at full speed, so alignment is no part of its
  // problems: slices of a buffer would only be tuned again and again.
  if (!mat1.is_cpu()) {
    p.align_a = layout_a.needs_copy ? 16 : alignment_of(a);
    p.align_b = layout_b.needs_copy ? 16 : alignment_of(b);
    p.align_out = output.alignment;
    p.align_bias = product.bias != nullptr ? alignment_of(*product.bias) : 16;
    const std::size_t least = natural_alignment(dtype);
    if (p.align_a < least || p.align_b < least ||
        p.align_out < natural_alignment(p.out_dtype)) {
      return "an operand is not aligned to its own elements";
    }
  }
  return nullptr;
}

}  // namespace tunedops
